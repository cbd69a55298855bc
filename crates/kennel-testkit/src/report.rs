//! Owns the one JSON line that `kennel-hostile` prints for an attempt.

use std::fmt;

use serde_json::{Value, json};

/// How an attempt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The forbidden thing worked.
    Escaped,
    /// Something refused it.
    Blocked,
    /// A precondition is missing, so that nothing was proved.
    NotPossibleHere,
}

impl Outcome {
    const ALL: [Self; 3] = [Self::Escaped, Self::Blocked, Self::NotPossibleHere];

    /// The word in the JSON line.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Escaped => "escaped",
            Self::Blocked => "blocked",
            Self::NotPossibleHere => "not_possible_here",
        }
    }
}

/// What one attempt reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The attempt's name.
    pub attempt: String,
    /// How it ended.
    pub outcome: Outcome,
    /// The name of the error, or what was got.
    pub detail: String,
    /// How far a resource bomb came, in the unit of its amount; absent for everything else.
    pub reached: Option<u64>,
}

/// Why a line is no report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReportError {
    /// The line is not JSON.
    NotJson(String),
    /// A field is missing or has another type or word than it should.
    Field(&'static str),
}

impl fmt::Display for ReportError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotJson(cause) => write!(formatter, "the report is not JSON: {cause}"),
            Self::Field(name) => write!(formatter, "the report's field `{name}` is missing or wrong"),
        }
    }
}

impl std::error::Error for ReportError {}

impl Report {
    /// Reads the line that `kennel-hostile` printed.
    pub fn parse(line: &str) -> Result<Self, ReportError> {
        let value: Value =
            serde_json::from_str(line.trim_end()).map_err(|error| ReportError::NotJson(error.to_string()))?;
        let text = |name| value.get(name).and_then(Value::as_str).ok_or(ReportError::Field(name));
        let word = text("outcome")?;
        let outcome =
            Outcome::ALL.into_iter().find(|outcome| outcome.word() == word).ok_or(ReportError::Field("outcome"))?;
        let reached = match value.get("reached") {
            None => None,
            Some(reached) => Some(reached.as_u64().ok_or(ReportError::Field("reached"))?),
        };
        Ok(Self { attempt: text("attempt")?.to_owned(), outcome, detail: text("detail")?.to_owned(), reached })
    }

    /// The line, without its end.
    #[must_use]
    pub fn to_line(&self) -> String {
        let mut value = json!({
            "attempt": self.attempt,
            "outcome": self.outcome.word(),
            "detail": self.detail,
        });
        if let Some(reached) = self.reached {
            value["reached"] = json!(reached);
        }
        value.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_comes_back_as_it_was() {
        for outcome in Outcome::ALL {
            for reached in [None, Some(7)] {
                let report =
                    Report { attempt: "fork_bomb".into(), outcome, detail: "\"quoted\"\nEAGAIN".into(), reached };
                let line = report.to_line();
                assert!(!line.contains('\n'));
                assert_eq!(Report::parse(&line), Ok(report));
            }
        }
    }

    #[test]
    fn foreign_lines_are_refused() {
        assert!(matches!(Report::parse("Killed"), Err(ReportError::NotJson(_))));
        assert_eq!(Report::parse("{}"), Err(ReportError::Field("outcome")));
        assert_eq!(
            Report::parse(r#"{"attempt":"x","outcome":"fled","detail":""}"#),
            Err(ReportError::Field("outcome"))
        );
        assert_eq!(
            Report::parse(r#"{"attempt":"x","outcome":"blocked","detail":"","reached":-1}"#),
            Err(ReportError::Field("reached"))
        );
    }
}
