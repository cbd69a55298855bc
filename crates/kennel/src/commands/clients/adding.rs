//! `kennel add` and `kennel remove`: one server into Kennel's list, or out of it.

use crate::cli::{Add, Remove, TransportName};
use crate::commands::clients::Own;
use crate::commands::clients::change::Change;
use crate::failure::Failure;
use crate::screen::complain;
use kennel_config::ServerName;
use kennel_config::clients::{
    Client, Entry, Launch, Origin, Outcome, Scope, Spelling, Text, Timeouts, Tools, Transport, Words, plan,
    plan_removal,
};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Adds a server.
pub(crate) fn add(flags: Add) -> Result<ExitCode, Failure> {
    if let Err(error) = flags.name.parse::<ServerName>() {
        return Err(Failure::Argument(format!("`{}` cannot be a server's name: {error}", flags.name)));
    }
    let own = Own::find(&flags.file)?;
    let (name, entry) = (flags.name.clone(), entry(flags)?);
    // Whoever adds a server by its command knows what they do: a gateway may serve another one.
    let plan = plan(&own.file, own.text.clone(), vec![entry], &[])?;
    match plan.items.first().map(|item| &item.outcome) {
        Some(Outcome::Added { .. }) => {
            Change { file: &plan.file, before: plan.before.as_deref(), after: &plan.after }.make()?;
            Ok(ExitCode::SUCCESS)
        }
        Some(Outcome::Same { .. }) => {
            complain(&[format!("{} has `{name}` already, just so", own.file.display())]);
            Ok(ExitCode::SUCCESS)
        }
        Some(Outcome::Renamed { .. }) => Err(Failure::Argument(format!(
            "{} has another server `{name}`; choose another name, or take it out with `kennel remove {name}`",
            own.file.display()
        ))),
        Some(Outcome::Itself) => Err(Failure::Argument(format!("`{name}` is Kennel itself, which it cannot serve"))),
        Some(Outcome::Refused { why }) => Err(Failure::Argument(format!("`{name}` cannot be added: {why}"))),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// Takes a server out.
pub(crate) fn remove(flags: &Remove) -> Result<ExitCode, Failure> {
    let own = Own::find(&flags.file)?;
    let text = own.text.clone().unwrap_or_default();
    let plan = plan_removal(&own.file, text, &flags.name)?;
    Change { file: &plan.file, before: plan.before.as_deref(), after: &plan.after }.make()?;
    Ok(ExitCode::SUCCESS)
}

fn entry(flags: Add) -> Result<Entry, Failure> {
    let words: Option<Vec<String>> = flags.command.iter().map(|word| word.to_str().map(str::to_owned)).collect();
    let words = words.ok_or_else(|| Failure::Argument("the command is no UTF-8 text".to_owned()))?;
    let is_address = |word: &String| word.starts_with("http://") || word.starts_with("https://");
    let launch = match (flags.transport, words.as_slice()) {
        (Some(TransportName::Http | TransportName::Sse), [url]) => http(&flags, url)?,
        (Some(TransportName::Http | TransportName::Sse), _) => {
            return Err(Failure::Argument("a server with that transport has one address and nothing else".to_owned()));
        }
        (None, [url]) if is_address(url) => http(&flags, url)?,
        (None | Some(TransportName::Stdio), _) => stdio(&flags, &words)?,
    };
    Ok(Entry {
        name: flags.name,
        origin: Origin {
            client: Client::Common,
            scope: Scope::User,
            file: PathBuf::new(),
            line: 0,
            key: String::new(),
        },
        launch,
        enabled: true,
        timeouts: Timeouts::default(),
        tools: Tools::default(),
        description: None,
        other: Vec::new(),
    })
}

fn text(value: &str) -> Text {
    Text::parse(value, Spelling::Braces, &Words::default())
}

fn http(flags: &Add, url: &str) -> Result<Launch, Failure> {
    if !flags.env.is_empty() || flags.cwd.is_some() {
        return Err(Failure::Argument("--env and --cwd are for programs; an address gets --header".to_owned()));
    }
    let header = |header: &String| {
        let (name, value) = header.split_once(':').ok_or_else(|| {
            Failure::Argument("--header must be NAME: VALUE, such as 'Authorization: Bearer ${TOKEN}'".to_owned())
        })?;
        Ok((name.trim().to_owned(), text(value.trim())))
    };
    Ok(Launch::Http {
        url: text(url),
        headers: flags.header.iter().map(header).collect::<Result<_, Failure>>()?,
        transport: match flags.transport {
            Some(TransportName::Http) => Transport::Http,
            Some(TransportName::Sse) => Transport::Sse,
            Some(TransportName::Stdio) | None => Transport::Auto,
        },
    })
}

fn stdio(flags: &Add, words: &[String]) -> Result<Launch, Failure> {
    if !flags.header.is_empty() {
        return Err(Failure::Argument("--header is for addresses; a program gets --env".to_owned()));
    }
    let Some((command, args)) = words.split_first() else {
        return Err(Failure::Argument("there is no command".to_owned()));
    };
    let env = flags.env.iter().map(|variable| match variable.split_once('=') {
        Some((name, value)) => (name.to_owned(), text(value)),
        None => (variable.clone(), Text::variable(variable.clone())),
    });
    let here = |path: &Path| {
        std::path::absolute(path).map_err(|source| Failure::System { what: "finding the working directory", source })
    };
    // A path that is meant from here would mean nothing from elsewhere.
    let is_relative =
        |word: &String| Path::new(word).is_relative() && word.contains(['/', '.']) && Path::new(word).exists();
    let cwd = match &flags.cwd {
        Some(cwd) => Some(here(cwd)?),
        None if words.iter().any(is_relative) => Some(here(Path::new("."))?),
        None => None,
    };
    Ok(Launch::Stdio {
        command: text(command),
        args: args.iter().map(|word| text(word)).collect(),
        env: env.collect(),
        cwd: cwd.map(|path| Text::from(path.to_string_lossy().into_owned())),
    })
}
