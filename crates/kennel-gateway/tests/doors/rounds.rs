//! Who may come back with a `requestState`: only the principal that was asked, by whatever connection.

use crate::http::Connection;
use crate::support::{CAPABILITIES_FIELD, Scene, call, modern, text_of};
use kennel_gateway::{AccessSettings, Settings, Token};
use kennel_hub::Principal;
use serde_json::{Value, json};

/// Makes the call that asks, with further parameters, by the token of this name.
async fn ask(connection: &mut Connection, name: &str, further: &[(&str, &Value)]) -> Value {
    let mut request = modern(call(1, "ask", &json!({})));
    request["params"]["_meta"][CAPABILITIES_FIELD] = json!({"elicitation": {}});
    for (field, value) in further {
        request["params"][field] = (*value).clone();
    }
    let authorization = format!("Bearer {name}");
    let response = connection.post_modern(&[("authorization", &authorization)], &request).await;
    assert_eq!(response.status, 200, "{response:?}");
    response.json()
}

/// The name of the one question, and the state.
fn asked(answer: &Value) -> (String, Value) {
    let questions = answer["result"]["inputRequests"].as_object().unwrap_or_else(|| panic!("no question: {answer}"));
    let (name, question) = questions.iter().next().expect("a question");
    assert_eq!(question["params"]["message"], "Who are you?");
    (name.clone(), answer["result"]["requestState"].clone())
}

fn says(name: &str) -> Value {
    json!({"action": "accept", "content": {"name": name}})
}

#[tokio::test]
async fn a_state_is_of_no_use_to_another_principal() {
    let token = |name: &str| Token { secret: name.into(), principal: Principal::new(name) };
    let access = AccessSettings { tokens: vec![token("ali"), token("bea")], ..AccessSettings::default() };
    let scene = Scene::of(Settings { access, ..Settings::default() }).await;
    let (mut of_ali, mut of_bea) = (scene.connect().await, scene.connect().await);
    // Both are asked, under the same id, by processes of their own.
    let (name, state) = asked(&ask(&mut of_ali, "ali", &[]).await);
    let (name_of_bea, state_of_bea) = asked(&ask(&mut of_bea, "bea", &[]).await);
    for (connection, who, name, foreign) in
        [(&mut of_bea, "bea", &name, &state), (&mut of_ali, "ali", &name_of_bea, &state_of_bea)]
    {
        let answers = json!({name: says("a stranger")});
        let refused = ask(connection, who, &[("requestState", foreign), ("inputResponses", &answers)]).await;
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&json!(1), &json!(-32602)), "{refused}");
        assert!(refused["error"]["message"].as_str().unwrap().contains("somebody else"), "{refused}");
    }
    // Nobody was harmed, and whoever was asked may come back by another connection.
    for (connection, who, name, state) in
        [(&mut of_bea, "ali", &name, &state), (&mut of_ali, "bea", &name_of_bea, &state_of_bea)]
    {
        let answers = json!({name: says(who)});
        let answer = ask(connection, who, &[("requestState", state), ("inputResponses", &answers)]).await;
        assert_eq!(text_of(&answer), says(who).to_string());
    }
    scene.end().await;
}
