//! Owns how a call waits for answers of the client: to requests of the server, or to the questions of a task.

use std::sync::{Arc, PoisonError};

use super::{Answer, Call, NoResult, lock};
use crate::dialogue::{IdKind, Question};

impl Call {
    /// Asks the client several things at once by requests of the server, and waits for all answers.
    pub(crate) fn ask_and_wait(&self, questions: &[Question]) -> Result<Vec<Answer>, NoResult> {
        let calls = &self.server.calls;
        let mut questions: Vec<(String, &Question)> = (questions.iter())
            .map(|question| match question.id {
                IdKind::Number => (calls.next_id(), question),
                IdKind::Text => (format!(r#""sample-{}""#, calls.next_id()), question),
                IdKind::Key => (format!(r#""{}""#, question.key), question),
            })
            .collect();
        let mut asked = lock(&calls.asked);
        for (id, question) in &mut questions {
            if asked.contains_key(id) {
                // Another call asks the same just now.
                *id = format!(r#""{}-{}""#, question.key, calls.next_id());
            }
            asked.insert(id.clone(), Arc::clone(&self.progress));
        }
        drop(asked);
        for (id, question) in &questions {
            self.server.output.request(id, question.method, &question.params.to_string());
        }
        let mut state = lock(&self.progress.state);
        loop {
            if state.cancelled {
                drop(state);
                for (id, _) in questions {
                    if lock(&calls.asked).remove(&id).is_some() {
                        let params = format!(r#"{{"requestId":{id},"reason":"the call was cancelled"}}"#);
                        self.server.output.notification("notifications/cancelled", &params);
                    }
                }
                return Err(NoResult::Cancelled);
            }
            if questions.iter().all(|(id, _)| state.answers.contains_key(id)) {
                return Ok(questions.iter().filter_map(|(id, _)| state.answers.remove(id)).collect());
            }
            state = self.progress.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Asks the client by the task that the call runs as, and waits for all answers; None if it runs as none.
    pub(crate) fn ask_by_task(&self, questions: &[Question]) -> Option<Result<Vec<Answer>, NoResult>> {
        let task = self.task()?;
        let mut asked = false;
        let mut state = lock(&self.progress.state);
        loop {
            if state.cancelled {
                return Some(Err(NoResult::Cancelled));
            }
            if let Some(answers) = task.answers(questions) {
                return Some(Ok(answers));
            }
            if !asked {
                asked = true;
                self.server.listeners.task_changed(&self.server.output, task);
            }
            state = self.progress.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
