use super::*;

struct Steps(Mutex<Vec<String>>);

impl InstallProgress for Steps {
    fn step(&self, text: &str) {
        self.0.lock().unwrap().push(text.to_owned());
    }
}

fn follow(text: &str, secrets: Secrets) -> (Vec<String>, LastWords, InstallPhase) {
    let steps = Steps(Mutex::default());
    let observer = Observer::new(&steps).with_secrets(secrets);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(observer.follow(text.as_bytes()));
    let (words, phase) = (observer.take_last_words(), observer.phase());
    drop(observer);
    (steps.0.into_inner().unwrap(), words, phase)
}

#[test]
fn the_lines_of_installers_tell_their_progress() {
    let npm = "npm http fetch GET 200 https://r.example/semver 192ms\n\
               npm http fetch GET 200 https://r.example/semver/-/semver-7.8.6.tgz 20ms (cache miss)\n";
    let (steps, _, phase) = follow(npm, Secrets::default());
    assert_eq!((steps, phase), (vec!["semver".into(), "semver-7.8.6.tgz".into()], InstallPhase::Downloading));
    let pip = "Collecting cowsay\n  Downloading cowsay-6.1-py3-none-any.whl (25 kB)\n";
    let (steps, ..) = follow(pip, Secrets::default());
    assert_eq!(steps, ["Collecting cowsay", "Downloading cowsay-6.1-py3-none-any.whl (25 kB)"]);
}

#[test]
fn the_last_words_are_few_short_and_without_secrets() {
    let mut secrets = Secrets::default();
    secrets.note("token", "s3cr3t-value");
    let mut lines = (0..100).map(|number| format!("line {number}")).collect::<Vec<_>>();
    lines.extend(["x".repeat(100_000) + "\r", "GET https://s3cr3t-value@host\x1b[0m".to_owned()]);
    let text = lines.join("\n");
    let (_, LastWords(lines), _) = follow(&text, secrets);
    assert_eq!(lines.len(), KEPT_LINES);
    assert!(lines.iter().all(|line| line.len() <= KEPT_BYTES + "…".len()));
    assert_eq!(lines.last().unwrap(), "GET https://[redacted]@host\u{fffd}[0m");
}

#[test]
fn a_secret_is_seen_at_no_cut_and_a_flood_tells_few_steps() {
    let mut secrets = Secrets::default();
    secrets.note("token", "s3cr3t-value-of-a-registry");
    for length in [KEPT_BYTES, LONGEST_LINE] {
        for back in 5..25 {
            let line = format!("{}s3cr3t-value-of-a-registry{}", ".".repeat(length - back), ".".repeat(10_000));
            let (_, LastWords(lines), _) = follow(&line, secrets.clone());
            assert!(lines.len() == 1 && !lines[0].contains("s3cr3"), "{length} {back}: {}", lines[0]);
        }
    }
    let (steps, ..) = follow(&"Collecting x\n".repeat(10_000), secrets);
    assert!(steps.len() < 1000, "{}", steps.len());
}

#[test]
fn the_words_of_installers_are_understood() {
    for (line, expected) in [
        ("npm error code E404", Hint::NoSuchPackage),
        ("npm error code ETARGET", Hint::NoSuchVersion),
        ("npm error code EAI_AGAIN", Hint::Offline),
        ("ERROR: Could not find a version that satisfies the requirement x (from versions: none)", Hint::NoSuchPackage),
        ("ERROR: Could not find a version that satisfies x==9 (from versions: 1.0, 2.0)", Hint::NoSuchVersion),
        ("WARNING: Retrying after connection broken by 'NewConnectionError(...)'", Hint::Offline),
        ("Because x was not found in the package registry and you require x", Hint::NoSuchPackage),
        ("Because there is no version of x==9", Hint::NoSuchVersion),
        ("something else", Hint::Unknown),
    ] {
        assert_eq!(hint(&LastWords(vec![line.to_owned()])), expected, "{line}");
    }
    let both = ["NewConnectionError", "(from versions: none)"].map(str::to_owned).to_vec();
    assert_eq!(hint(&LastWords(both)), Hint::Offline, "pip says both when it reached nothing");
}
