//! Surveys: Kennel's own requests for the lists of a process. Of each list at most one is under way, however often the
//! process says that the list has changed, and between two of them there is some time.

use crate::catalog::List;
use crate::exchange::{Exchange, State};
use crate::pending::Purpose;
use kennel_wire::RawJson;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The least time from the beginning of one survey of a list to that of the next.
const PACE: Duration = Duration::from_millis(200);

/// The surveys of the process that is ready.
#[derive(Debug, Default)]
pub(crate) struct Surveys {
    lists: BTreeMap<List, Survey>,
}

/// The survey of one list.
#[derive(Debug)]
struct Survey {
    course: Course,
    began: Instant,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Course {
    /// A page is asked for.
    Underway,
    /// The same, and the list has changed meanwhile.
    Outdated,
    /// The next one has to wait.
    Scheduled,
    /// Nothing is to do.
    Ended,
}

/// What is to be done for a list that has to be surveyed.
#[derive(Debug, PartialEq, Eq)]
enum Due {
    Now,
    After(Duration),
    /// It is seen to already.
    Never,
}

impl Surveys {
    /// Takes down that a list is to be surveyed.
    fn want(&mut self, list: List, now: Instant) -> Due {
        let Some(survey) = self.lists.get_mut(&list) else {
            self.lists.insert(list, Survey { course: Course::Underway, began: now });
            return Due::Now;
        };
        match survey.course {
            Course::Underway | Course::Outdated => {
                survey.course = Course::Outdated;
                Due::Never
            }
            Course::Scheduled => Due::Never,
            Course::Ended => {
                let rest = PACE.saturating_sub(now.duration_since(survey.began));
                if rest.is_zero() {
                    *survey = Survey { course: Course::Underway, began: now };
                    return Due::Now;
                }
                survey.course = Course::Scheduled;
                Due::After(rest)
            }
        }
    }

    /// The time for a survey that had to wait has come.
    fn resume(&mut self, list: List) {
        if let Some(survey) = self.lists.get_mut(&list)
            && survey.course == Course::Scheduled
        {
            survey.course = Course::Ended;
        }
    }

    /// A survey has come to its end, whatever it brought; says whether there has to be another.
    fn end(&mut self, list: List) -> bool {
        let Some(survey) = self.lists.get_mut(&list) else { return false };
        std::mem::replace(&mut survey.course, Course::Ended) == Course::Outdated
    }
}

impl Exchange {
    /// Asks for the pages of a list that is not known, or may have changed: at once, or when the survey that is under way
    /// has ended.
    pub(crate) fn survey(&self, state: &mut State, list: List) {
        if state.link.is_none() {
            return;
        }
        match state.surveys.want(list, Instant::now()) {
            Due::Now => {
                let purpose = Purpose::Catalog(list, Vec::new());
                if !self.ask_for_itself(state, list.method(), &RawJson::empty_object(), purpose) {
                    state.surveys.end(list);
                }
            }
            Due::After(rest) => {
                let exchange = self.me.clone();
                self.core.tasks.spawn(async move {
                    sleep(rest).await;
                    if let Some(exchange) = exchange.upgrade() {
                        let mut state = exchange.state();
                        state.surveys.resume(list);
                        exchange.survey(&mut state, list);
                    }
                });
            }
            Due::Never => {}
        }
    }

    /// The survey of a list has come to its end: its last page is there, or will never be.
    pub(crate) fn surveyed(&self, list: List) {
        let mut state = self.state();
        if state.surveys.end(list) {
            self.survey(&mut state, list);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_each_list_one_survey_is_under_way() {
        let (mut surveys, now) = (Surveys::default(), Instant::now());
        assert_eq!(surveys.want(List::Tools, now), Due::Now);
        assert_eq!(surveys.want(List::Prompts, now), Due::Now);
        for _ in 0..1000 {
            assert_eq!(surveys.want(List::Tools, now), Due::Never);
        }
        assert!(!surveys.end(List::Prompts), "nothing has changed meanwhile");
        assert!(surveys.end(List::Tools), "once more, however often it has changed");
        assert!(!surveys.end(List::Tools));
    }

    #[test]
    fn the_next_survey_of_a_list_keeps_its_distance() {
        let (mut surveys, now) = (Surveys::default(), Instant::now());
        surveys.want(List::Tools, now);
        surveys.end(List::Tools);
        let later = now + PACE / 4;
        assert_eq!(surveys.want(List::Tools, later), Due::After(PACE * 3 / 4));
        assert_eq!(surveys.want(List::Tools, later), Due::Never, "it is scheduled already");
        surveys.resume(List::Tools);
        assert_eq!(surveys.want(List::Tools, now + PACE), Due::Now);
    }
}
