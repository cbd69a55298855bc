//! The time in which a cell waits for a person, which is not the cell's.

use crate::sync::lock;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

/// The longest that a cell is waited for beyond its own time because a person was asked.
const LONGEST: Duration = Duration::from_mins(10);

/// How long a cell has waited for a person. Cheap to clone; clones are the same.
#[derive(Debug, Clone, Default)]
pub struct Patience(Arc<Mutex<Waited>>);

#[derive(Debug, Default)]
struct Waited {
    /// How many questions are not answered.
    open: usize,
    since: Option<Instant>,
    before: Duration,
}

/// A question to a person that is not answered as long as this lives.
#[derive(Debug)]
pub struct Asking(Patience);

impl Patience {
    /// Says that a person is asked.
    #[must_use]
    pub fn asking(&self) -> Asking {
        let mut waited = lock(&self.0);
        waited.open += 1;
        waited.since.get_or_insert_with(Instant::now);
        Asking(self.clone())
    }

    /// When a cell has used up its time, if that is later than it seemed.
    pub(super) fn later(&self, deadline: Instant) -> Option<Instant> {
        let waited = lock(&self.0);
        let now = waited.since.map(|since| since.elapsed()).unwrap_or_default();
        let later = deadline + (waited.before + now).min(LONGEST);
        (later > Instant::now()).then_some(later)
    }
}

impl PartialEq for Patience {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Patience {}

impl Drop for Asking {
    fn drop(&mut self) {
        let mut waited = lock(&self.0.0);
        waited.open -= 1;
        if waited.open == 0 {
            let now = waited.since.take().map(|since| since.elapsed());
            waited.before += now.unwrap_or_default();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::advance;

    #[tokio::test(start_paused = true)]
    async fn only_the_time_in_which_somebody_was_asked_is_added() {
        let (patience, deadline) = (Patience::default(), Instant::now() + Duration::from_secs(30));
        advance(Duration::from_secs(10)).await;
        let (first, second) = (patience.asking(), patience.asking());
        advance(Duration::from_secs(25)).await;
        assert_eq!(patience.later(deadline), Some(deadline + Duration::from_secs(25)));
        drop(first);
        advance(Duration::from_secs(5)).await;
        drop(second);
        advance(Duration::from_secs(5)).await;
        assert_eq!(patience.later(deadline), Some(deadline + Duration::from_secs(30)), "the questions overlap");
        advance(Duration::from_secs(15)).await;
        assert_eq!(patience.later(deadline), None);
        let _asking = patience.asking();
        advance(Duration::from_hours(1)).await;
        assert_eq!(patience.later(deadline), None, "nobody is waited for for ever");
    }

    #[tokio::test(start_paused = true)]
    async fn without_a_question_nothing_is_added() {
        let deadline = Instant::now() + Duration::from_secs(1);
        advance(Duration::from_secs(1)).await;
        assert_eq!(Patience::default().later(deadline), None);
    }
}
