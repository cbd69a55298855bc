//! Several scenes behind one union, and clients for it.

use crate::support::{Guest, Plan, Process, Profile, Scene, calm, introduce, parse, tools};
use kennel_hub::{
    AsTheyAre, Asked, Caller, Endpoint, Mailbox, MailboxLimits, MemberSettings, Presentation, ProcessModel, Union,
    UnionSettings,
};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

/// A union and what is behind it.
pub(crate) struct House {
    pub(crate) union: Union,
    pub(crate) endpoint: Endpoint,
    scenes: Vec<(&'static str, Scene)>,
}

/// One scene as a member.
pub(crate) fn member(name: &str, scene: &Scene) -> MemberSettings {
    presented(name, scene, Arc::new(AsTheyAre))
}

pub(crate) fn presented(name: &str, scene: &Scene, presentation: Arc<dyn Presentation>) -> MemberSettings {
    MemberSettings { name: name.to_owned(), description: None, hub: scene.hub.clone(), presentation }
}

/// A scene whose processes all behave like this one.
pub(crate) fn scene_of(model: ProcessModel, profile: Profile) -> Scene {
    scene_as(calm(model), profile)
}

pub(crate) fn scene_as(plan: Plan, profile: Profile) -> Scene {
    Scene::with(plan, move |_| profile.clone())
}

/// A server with these tools and nothing else.
pub(crate) fn with_tools(names: &[&str]) -> Profile {
    Profile { tools: vec![tools(names)], ..Profile::default() }
}

/// A server that has everything, and answers for its lists by itself.
pub(crate) fn rich(tool: &str) -> Profile {
    let resources = json!([{ "uri": "file:///x", "name": "x", "size": 1.50 }]);
    Profile {
        capabilities: json!({
            "tools": {}, "prompts": {}, "resources": { "subscribe": true }, "completions": {}, "logging": {}
        }),
        tools: vec![tools(&[tool])],
        lists: vec![
            ("prompts/list", json!({ "prompts": [{ "name": "greet" }] })),
            ("resources/list", json!({ "resources": resources })),
            (
                "resources/templates/list",
                json!({ "resourceTemplates": [{ "uriTemplate": "db://{id}/row", "name": "rows" }] }),
            ),
        ],
        ..Profile::default()
    }
}

impl House {
    pub(crate) fn new(scenes: Vec<(&'static str, Scene)>) -> Self {
        Self::with(UnionSettings::default(), scenes)
    }

    pub(crate) fn with(settings: UnionSettings, scenes: Vec<(&'static str, Scene)>) -> Self {
        let members = scenes.iter().map(|(name, scene)| member(name, scene)).collect();
        Self::of(Union::new(settings, members), scenes)
    }

    pub(crate) fn of(union: Union, scenes: Vec<(&'static str, Scene)>) -> Self {
        Self { endpoint: Endpoint::Union(union.clone()), union, scenes }
    }

    /// Servers `a` with the tool `x` and `b` with the tool `y`.
    pub(crate) fn pair(model: ProcessModel) -> Self {
        let scene = |tool| scene_of(model, with_tools(&[tool]));
        Self::new(vec![("a", scene("x")), ("b", scene("y"))])
    }

    /// Servers `a` and `b` that have everything, each with one process for all.
    pub(crate) fn rich_pair() -> Self {
        let scene = |tool| scene_of(ProcessModel::Shared, rich(tool));
        Self::new(vec![("a", scene("x")), ("b", scene("y"))])
    }

    pub(crate) fn scene(&self, name: &str) -> &Scene {
        self.scenes.iter().find(|(other, _)| *other == name).map(|(_, scene)| scene).expect("a scene of this name")
    }

    pub(crate) async fn process(&self, name: &str) -> Process {
        self.scene(name).process().await
    }

    /// A client with a session of its own.
    pub(crate) async fn client(&self) -> Guest {
        self.guest(json!({})).await
    }

    pub(crate) async fn guest(&self, capabilities: Value) -> Guest {
        introduce(&self.endpoint, "local", "2025-11-25", capabilities).await.expect("a session")
    }

    /// Checks that no server has started a process that the test has not seen.
    pub(crate) async fn starts_nothing(&self) {
        for (_, scene) in &self.scenes {
            scene.starts_nothing().await;
        }
    }

    /// How many processes run, all servers together.
    pub(crate) fn live(&self) -> usize {
        self.scenes.iter().map(|(_, scene)| scene.engine.live()).sum()
    }

    /// Makes a request that stands for itself.
    pub(crate) fn ask(&self, caller: &Caller, request: kennel_wire::Message) -> (Asked, Arc<Mailbox>) {
        let mailbox = Mailbox::new(MailboxLimits::default());
        (self.endpoint.ask(caller, request, &mailbox), mailbox)
    }

    /// Makes a request of somebody who says nothing about itself.
    #[expect(clippy::needless_pass_by_value, reason = "so that callers can write it where it stands")]
    pub(crate) fn call(&self, caller: &Caller, method: &str, params: Value) -> Arc<Mailbox> {
        let mailbox = Mailbox::new(MailboxLimits::default());
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.endpoint.call(caller, parse(&request.to_string()), &mailbox);
        mailbox
    }

    /// Ends everything and checks that nothing is left.
    pub(crate) async fn end(self) {
        drop((self.union, self.endpoint));
        for (_, scene) in self.scenes {
            scene.end().await;
        }
    }
}

/// The result of a request for a list.
pub(crate) async fn list(client: &Guest, method: &str) -> Value {
    let response = client.request(1, method, json!({})).response().await;
    assert!(response["result"].is_object(), "{response}");
    response["result"].clone()
}

/// What the items of a list are called.
pub(crate) fn called<'a>(result: &'a Value, list: &str, member: &str) -> Vec<&'a str> {
    let items = result[list].as_array().unwrap_or_else(|| panic!("no {list} in {result}"));
    items.iter().map(|item| item[member].as_str().expect("a name")).collect()
}

/// The names of all tools that a client sees.
pub(crate) async fn tool_names(client: &Guest) -> Vec<String> {
    let result = list(client, "tools/list").await;
    called(&result, "tools", "name").into_iter().map(str::to_owned).collect()
}

/// Passes over what a client hears of servers that have become known, until there is nothing more to tell.
pub(crate) async fn hear_out(client: &Guest) {
    sleep(Duration::from_secs(1)).await;
    while let Some(news) = client.unsolicited.mailbox.try_next() {
        let news: Value = serde_json::from_slice(&news.message).expect("JSON");
        assert!(news["method"].as_str().expect("a method").ends_with("/list_changed"), "{news}");
    }
}
