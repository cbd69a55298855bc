//! Owns the conformance suites' tools that ask in the ways of the modern protocol; a legacy client is asked the same by
//! requests.

use serde_json::{Value, json};

use super::conformance::sampling_params;
use super::{NO_ARGUMENTS, Tool};
use crate::calls::{Call, Outcome};
use crate::content;
use crate::dialogue::{Question, Sealing, in_words, text_in};

pub(super) const TOOLS: &[Tool] = &[
    Tool::new("test_input_required_result_elicitation", "Asks the user for a name", NO_ARGUMENTS, |call| {
        call.require(&["elicitation"])?;
        let question = Question::form("user_name", "What is your name?", "name");
        let name = call.ask_for_text(question, "/content/name", Sealing::WhenNeeded)?;
        Ok(content::text(format!("Hello, {name}!")))
    }),
    Tool::new("test_input_required_result_sampling", "Asks the client's model", NO_ARGUMENTS, |call| {
        call.require(&["sampling"])?;
        let text = call.ask_for_text(capital(), "/content/text", Sealing::WhenNeeded)?;
        Ok(content::text(text))
    }),
    Tool::new("test_input_required_result_list_roots", "Asks the client for its roots", NO_ARGUMENTS, |call| {
        call.require(&["roots"])?;
        let answer = call.ask(roots(), Sealing::WhenNeeded)?;
        Ok(content::text(format!("Roots: {}", in_words(&answer))))
    }),
    Tool::new("test_input_required_result_request_state", "Asks with a state", NO_ARGUMENTS, |call| {
        confirmed(call, "state-ok")
    }),
    Tool::new("test_input_required_result_tampered_state", "Asks with a sealed state", NO_ARGUMENTS, |call| {
        confirmed(call, "untampered")
    }),
    Tool::new(
        "test_input_required_result_multiple_inputs",
        "Asks for a name, a greeting and the roots at once",
        NO_ARGUMENTS,
        multiple_inputs,
    ),
    Tool::new("test_input_required_result_multi_round", "Asks one thing after the other", NO_ARGUMENTS, multi_round),
    Tool::new("test_input_required_result_capabilities", "Asks what the client can answer", NO_ARGUMENTS, capabilities),
];

fn capital() -> Question {
    Question::new("capital_question", "sampling/createMessage", sampling_params("What is the capital of France?"))
}

fn roots() -> Question {
    Question::new("client_roots", "roots/list", json!({}))
}

fn confirmed(call: &Call, word: &str) -> Outcome {
    call.require(&["elicitation"])?;
    let schema = json!({"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]});
    let params = json!({"message": "Please confirm", "requestedSchema": schema});
    let answer = call.ask(Question::new("confirm", "elicitation/create", params), Sealing::Always)?;
    Ok(content::text(format!("{word}: {}", in_words(&answer))))
}

fn multiple_inputs(call: &Call) -> Outcome {
    call.require(&["elicitation", "sampling", "roots"])?;
    let greeting = Question::new("greeting", "sampling/createMessage", sampling_params("Generate a greeting"));
    let questions = [Question::form("user_name", "What is your name?", "name"), greeting, roots()];
    let answers = call.ask_all(&questions, Sealing::Always)?;
    let items: Vec<Value> = answers.iter().map(|answer| content::text_item(&in_words(answer))).collect();
    Ok(content::contents(&items))
}

fn multi_round(call: &Call) -> Outcome {
    call.require(&["elicitation"])?;
    let first = Question::form("step1", "Step 1: What is your name?", "name");
    let name = call.ask_for_text(first, "/content/name", Sealing::Always)?;
    let second = Question::form("step2", "Step 2: What is your favorite color?", "color");
    let color = call.ask_for_text(second, "/content/color", Sealing::Always)?;
    Ok(content::text(format!("{name} likes {color}")))
}

/// Nothing is asked of a client that can answer nothing.
fn capabilities(call: &Call) -> Outcome {
    let value = Question::form("elicit_input", "Which value?", "value");
    let questions: Vec<Question> = [("elicitation", value), ("sampling", capital()), ("roots", roots())]
        .into_iter()
        .filter(|(capability, _)| call.client_can(capability))
        .map(|(_, question)| question)
        .collect();
    let answers = call.ask_all(&questions, Sealing::WhenNeeded)?;
    let answered: Vec<String> = (questions.iter().zip(&answers))
        .map(|(question, answer)| match text_in(answer, "/content/value") {
            Ok(text) => format!("{}: {text}", question.key),
            Err(_) => format!("{}: {}", question.key, in_words(answer)),
        })
        .collect();
    Ok(content::text(format!("answered [{}]", answered.join(", "))))
}
