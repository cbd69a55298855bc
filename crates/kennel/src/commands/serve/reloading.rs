//! Owns how servers change while Kennel runs: by another version of the file, or by the operator's word.

use super::fleet::{Fleet, Member, State};
use super::trust::distrust;
use crate::commands::asking::did_you_mean;
use crate::commands::server::Assembled;
use kennel_config::{Changes, Config, ServerName, Widening};
use kennel_hub::Readiness;
use kennel_redact::one_line;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// How long the calls of a server that is replaced are waited for, where its definition says nothing else.
const PATIENCE: Duration = Duration::from_mins(5);

/// How much is said of a version of the file that waits.
const MOST_WIDENINGS: usize = 50;
const LONGEST_WIDENING: usize = 300;

/// What another version of the file has changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Reloaded {
    pub(crate) added: Vec<String>,
    pub(crate) removed: Vec<String>,
    pub(crate) changed: Vec<String>,
    pub(crate) shown_otherwise: Vec<String>,
    pub(crate) same: usize,
    /// What needs another start of Kennel, and whatever else somebody should know.
    pub(crate) warnings: Vec<String>,
    /// What was not taken up.
    #[serde(default)]
    pub(crate) waiting: Option<Waiting>,
}

/// A version of the file that lets servers do more, and that somebody else may have written. It waits for the operator.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Waiting {
    /// Tells it from other versions, so that no other one is accepted than the one that was looked at.
    pub(crate) number: u64,
    /// Who else may have written it.
    pub(crate) why: String,
    /// What it lets servers do.
    pub(crate) widens: Vec<Widened>,
}

/// One thing that servers might do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Widened {
    /// The server, unless it is about all.
    pub(crate) server: Option<String>,
    pub(crate) what: String,
}

impl std::fmt::Display for Waiting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "the file lets servers do more than before, but {}; nothing of it is taken up:", self.why)?;
        for Widened { server, what } in &self.widens {
            let server = server.as_ref().map(|server| format!("{server}: ")).unwrap_or_default();
            writeln!(f, "  {server}{what}")?;
        }
        write!(f, "  if you have written it, `kennel reload --accept` takes it up (this is change {})", self.number)
    }
}

/// Why the operator's word was not followed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ControlError {
    /// No such server.
    #[error("there is no server `{name}`{guess}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// What was meant, perhaps, or where to look.
        guess: String,
    },
    /// It is not served at all.
    #[error("{name} is not served: {problem}")]
    NotServed {
        /// The server.
        name: String,
        /// Why.
        problem: String,
    },
    /// The new one does not start, and the old one goes on.
    #[error("{name} goes on as it was, because a new process does not start: {problem}")]
    NotStarted {
        /// The server.
        name: String,
        /// Why.
        problem: String,
    },
    /// Somebody else was faster.
    #[error("{0} was changed by somebody else meanwhile; look at `kennel ps` and try again")]
    Overtaken(String),
    /// What was looked at is no longer what waits.
    #[error("{}", no_such_change(*.asked, .waiting.as_ref()))]
    NoSuchChange {
        /// What was accepted.
        asked: u64,
        /// What waits.
        waiting: Option<Waiting>,
    },
    /// The file makes no sense.
    #[error("the servers go on as they were, because the file has mistakes:\n{0}")]
    File(String),
}

fn no_such_change(asked: u64, waiting: Option<&Waiting>) -> String {
    match waiting {
        None => format!("change {asked} does not wait for anybody; `kennel reload` reads the file again"),
        Some(waiting) => format!("the file has changed since change {asked}, which was not taken up; now {waiting}"),
    }
}

impl Fleet {
    /// Reads the file again and changes what is different in it. What is wrong with the file changes nothing; neither does
    /// what lets servers do more, if somebody else may have written it.
    pub(crate) async fn reload(self: &Arc<Self>) -> Result<Reloaded, ControlError> {
        let (file, belongings) = (self.file().to_owned(), Arc::clone(&self.ground.belongings));
        let current = self.read().config.clone();
        let read = tokio::task::spawn_blocking(move || {
            // Whoever can replace the file could otherwise have it read forever.
            if file.metadata().is_ok_and(|found| !found.is_file()) {
                return Err(format!("{} is no regular file", file.display()));
            }
            let config = Config::read(&file).map_err(|error| error.to_string())?;
            let widens = Widening::between(&current, &config);
            let why = if widens.is_empty() { None } else { distrust(&file, &belongings, &current) };
            Ok((config, widens, why))
        });
        let read = read.await.unwrap_or_else(|error| Err(error.to_string()));
        let (config, widens, why) = read.map_err(ControlError::File)?;
        match why {
            None => Ok(self.change_to(config)),
            Some(why) => Ok(self.keep_waiting(config, &widens, why)),
        }
    }

    /// Takes up the change that waits, by the operator's word.
    pub(crate) fn accept(self: &Arc<Self>, number: u64) -> Result<Reloaded, ControlError> {
        let waiting = self.write().waiting.take_if(|(waiting, _)| waiting.number == number);
        match waiting {
            Some((_, config)) => Ok(self.change_to(config)),
            None => Err(ControlError::NoSuchChange { asked: number, waiting: self.waiting() }),
        }
    }

    /// What waits for the operator.
    pub(crate) fn waiting(&self) -> Option<Waiting> {
        self.read().waiting.as_ref().map(|(waiting, _)| waiting.clone())
    }

    fn keep_waiting(&self, config: Config, widens: &[Widening], why: String) -> Reloaded {
        let widened = |widening: &Widening| Widened {
            server: widening.server.as_ref().map(ToString::to_string),
            // Whoever wrote the file has chosen the words.
            what: one_line(&widening.what).chars().take(LONGEST_WIDENING).collect(),
        };
        let mut widens: Vec<Widened> = widens.iter().take(MOST_WIDENINGS + 1).map(widened).collect();
        if widens.len() > MOST_WIDENINGS {
            widens.truncate(MOST_WIDENINGS);
            widens.push(Widened { server: None, what: "and more; look at the file".to_owned() });
        }
        let (waiting, same, is_known) = {
            let mut state = self.write();
            let known =
                state.waiting.as_ref().filter(|(_, known)| *known == config).map(|(waiting, _)| waiting.clone());
            let is_known = known.is_some();
            let waiting = known.unwrap_or_else(|| {
                state.changes += 1;
                Waiting { number: state.changes, why, widens }
            });
            state.waiting = Some((waiting.clone(), config));
            (waiting, state.members.len(), is_known)
        };
        if !is_known {
            self.console.say("reload_waits", &waiting.to_string(), json!({ "waiting": waiting }));
        }
        Reloaded { same, waiting: Some(waiting), ..Reloaded::default() }
    }

    fn change_to(self: &Arc<Self>, config: Config) -> Reloaded {
        let mut begun = Vec::new();
        let mut ended = Vec::new();
        let (changes, warnings) = {
            let mut state = self.write();
            let changes = Changes::between(&state.config, &config);
            let State { config: current, members, waiting, .. } = &mut *state;
            for name in changes.added.iter().chain(&changes.changed) {
                let member = self.member(&config, name, members.get(name));
                if let Some(Member { served: Ok(former), .. }) = members.insert(name.clone(), member.clone()) {
                    if let Ok(successor) = &member.served {
                        // Under the lock, so that nobody comes to the old one in between.
                        former.hub.hand_over(&successor.hub);
                    }
                    ended.push((name.clone(), former));
                }
                begun.push((name.clone(), member));
            }
            for name in &changes.removed {
                if let Some(Member { served: Ok(former), .. }) = members.remove(name) {
                    former.hub.hold("it is no longer in the configuration");
                    ended.push((name.clone(), former));
                }
            }
            let warnings = config.warnings.iter().map(ToString::to_string).collect::<Vec<_>>();
            self.ground.belongings.note_unboxed(&config);
            *current = config;
            // Whatever waited was an older version.
            *waiting = None;
            // Clients are not told of changes where there are none.
            if !changes.is_empty() {
                self.show(&mut state);
            }
            (changes, warnings)
        };
        for (name, former) in ended {
            self.retire(&name, former);
        }
        for (name, member) in &begun {
            self.begin(name, member);
        }
        let reloaded = Reloaded::of(&changes, warnings);
        self.announce_change(&changes, &reloaded);
        reloaded
    }

    fn announce_change(&self, changes: &Changes, reloaded: &Reloaded) {
        for warning in &reloaded.warnings {
            self.console.say("warning", warning, json!({}));
        }
        let text = if changes.is_empty() {
            "the file says the same as before".to_owned()
        } else {
            let parts = [
                ("added", &reloaded.added),
                ("removed", &reloaded.removed),
                ("changed", &reloaded.changed),
                ("shown otherwise", &reloaded.shown_otherwise),
            ];
            let parts = parts.into_iter().filter(|(_, names)| !names.is_empty());
            let parts: Vec<_> = parts.map(|(what, names)| format!("{what}: {}", names.join(", "))).collect();
            format!("reloaded; {}", if parts.is_empty() { "no server changed".to_owned() } else { parts.join("; ") })
        };
        self.console.say("reloaded", &text, json!({ "changes": reloaded }));
    }

    /// Replaces the processes of a server: where they are shared, the new one is ready before the old one gets no more.
    pub(crate) async fn restart(self: &Arc<Self>, name: &str) -> Result<(), ControlError> {
        let (key, former) = self.known(name)?;
        let member = self.another(&key);
        let successor = member.served.clone();
        let successor = successor.map_err(|problem| ControlError::NotServed { name: name.to_owned(), problem })?;
        if let Err(problem) = successor.hub.try_out().await {
            successor.shutdown().await;
            return Err(ControlError::NotStarted { name: name.to_owned(), problem });
        }
        if self.replace(&key, &former, member) {
            self.console.say("restarted", &format!("{name} was restarted"), json!({ "about": name }));
            return Ok(());
        }
        successor.shutdown().await;
        Err(ControlError::Overtaken(name.to_owned()))
    }

    /// Ends the processes of a server, when their calls are done, and starts none until somebody says so.
    pub(crate) fn stop(self: &Arc<Self>, name: &str) -> Result<(), ControlError> {
        let (key, former) = self.known(name)?;
        if former.hub.is_held() {
            return Ok(());
        }
        let member = self.another(&key);
        if let Ok(successor) = &member.served {
            successor.hub.hold(&format!("the operator has stopped it; `kennel start {name}` lets it go on"));
        }
        if !self.replace(&key, &former, member) {
            return Err(ControlError::Overtaken(name.to_owned()));
        }
        self.console.say("stopped", &format!("{name} was stopped"), json!({ "about": name }));
        Ok(())
    }

    /// Starts a process of a server, be it that it was stopped, has given up or was never asked for.
    pub(crate) async fn start(self: &Arc<Self>, name: &str) -> Result<(), ControlError> {
        let (_, served) = self.known(name)?;
        if matches!(served.hub.status().readiness, Readiness::Failed { .. }) {
            return self.restart(name).await;
        }
        served.hub.release();
        let started = served.hub.try_out().await;
        started.map_err(|problem| ControlError::NotServed { name: name.to_owned(), problem })?;
        self.console.say("started", &format!("{name} was started"), json!({ "about": name }));
        Ok(())
    }

    /// The same server once more, with nothing of it started.
    fn another(&self, name: &ServerName) -> Member {
        let state = self.read();
        self.member(&state.config, name, state.members.get(name))
    }

    /// Puts a server in place of another, if that is still the one there is.
    fn replace(self: &Arc<Self>, name: &ServerName, former: &Arc<Assembled>, member: Member) -> bool {
        let mut state = self.write();
        let current = state.members.get(name).and_then(|member| member.served.as_ref().ok());
        if !current.is_some_and(|current| Arc::ptr_eq(current, former)) {
            return false;
        }
        if let Ok(successor) = &member.served {
            former.hub.hand_over(&successor.hub);
        }
        state.members.insert(name.clone(), member);
        self.show(&mut state);
        drop(state);
        self.retire(name, Arc::clone(former));
        true
    }

    fn known(&self, name: &str) -> Result<(ServerName, Arc<Assembled>), ControlError> {
        let served = self.served(name).ok_or_else(|| self.unknown(name))?;
        let served = served.map_err(|problem| ControlError::NotServed { name: name.to_owned(), problem })?;
        let key = name.parse().map_err(|_| self.unknown(name))?;
        Ok((key, served))
    }

    /// What is said of a name that no server has.
    pub(crate) fn unknown(&self, name: &str) -> ControlError {
        let names = self.names();
        let mut guess = did_you_mean(name, names.iter().map(String::as_str));
        if guess.is_empty() {
            "; `kennel ps` lists those there are".clone_into(&mut guess);
        }
        ControlError::Unknown { name: name.to_owned(), guess }
    }

    /// How long the calls of a server are waited for: as long as one may take without a word.
    pub(super) fn patience_with(&self, name: &ServerName) -> Duration {
        let state = self.read();
        state.config.servers.get(name).and_then(|server| server.timeouts.call).unwrap_or(PATIENCE)
    }
}

impl Reloaded {
    fn of(changes: &Changes, mut warnings: Vec<String>) -> Self {
        if changes.gateway {
            warnings.push("what changed below `gateway` counts when Kennel is started again".to_owned());
        }
        let names = |names: &[ServerName]| names.iter().map(ToString::to_string).collect();
        Self {
            added: names(&changes.added),
            removed: names(&changes.removed),
            changed: names(&changes.changed),
            shown_otherwise: names(&changes.shown_otherwise),
            same: changes.same.len(),
            warnings,
            waiting: None,
        }
    }
}
