use super::*;
use crate::cli::{Arguments, Command};
use clap::Parser;
use kennel_config::{ResolvedLaunch, ResolvedProcess, SystemSources};

/// What a command line of `kennel run` comes to when the server is started.
fn resolved(words: &[&str]) -> ResolvedProcess {
    let definition = definition(words).unwrap();
    let resolved = definition.server.resolve(&definition.name, &definition.directory, &SystemSources::default());
    match resolved.unwrap().launch {
        ResolvedLaunch::Process(process) => *process,
        ResolvedLaunch::Upstream(_) => panic!("no process"),
    }
}

fn definition(words: &[&str]) -> Result<Definition, Failure> {
    let all = ["kennel", "run"].iter().chain(words);
    let Command::Run(run) = Arguments::try_parse_from(all).unwrap().command else { panic!("not `kennel run`") };
    Definition::of_flags(&run.server, &run.command)
}

#[test]
fn what_the_shell_has_left_means_itself() {
    let process = resolved(&["--env", "A=${HOME} $${B} ~", "--", "sh", "-c", "echo ${HOME} $${X} ${input:y} ~/z"]);
    assert_eq!(process.command, ["sh", "-c", "echo ${HOME} $${X} ${input:y} ~/z"]);
    assert_eq!(process.spec.env["A"], "${HOME} $${B} ~");
}

#[test]
fn paths_start_from_the_working_directory_and_home_is_no_letter() {
    let here = std::env::current_dir().unwrap();
    let process =
        resolved(&["--read", "a", "--write", "~/b:/data", "--cwd", "../c", "--read", "d:e", "--", "~/bin/server"]);
    assert_eq!(process.command, [here.join("./~/bin/server").to_str().unwrap()]);
    let mounts: Vec<_> = process.spec.mounts.iter().map(|mount| (&mount.host_path, &mount.mount_path)).collect();
    let place = Some(PathBuf::from("/data"));
    assert_eq!(mounts, [(&here.join("a"), &None), (&here.join("d:e"), &None), (&here.join("~/b"), &place)]);
    assert_eq!(process.spec.workdir.as_deref(), Some(here.parent().unwrap().join("c").as_path()));
}

#[test]
fn variables_are_passed_on_by_name_and_missed_at_once() {
    assert_eq!(resolved(&["--env", "PATH", "--", "x"]).spec.env["PATH"], std::env::var("PATH").unwrap());
    let error = definition(&["--env", "NO_SUCH_VARIABLE", "--", "x"]).unwrap_err();
    assert!(error.to_string().contains("write NO_SUCH_VARIABLE=VALUE"), "{error}");
}

#[test]
fn any_title_has_a_name_for_messages() {
    let named = |title: &str| definition(&["--name", title, "--", "x"]).map(|found| (found.title, found.name));
    let (title, name) = named("my server!").unwrap();
    assert_eq!((title.as_str(), name.as_str()), ("my server!", "my-server"));
}
