use super::*;
use proptest::prelude::*;

fn document(server: &'static str, name: &'static str, description: &'static str) -> Document<'static> {
    Document { server: server.into(), name: name.into(), description: description.into(), ..Document::default() }
}

fn tools() -> Vec<Document<'static>> {
    vec![
        document("files", "read_file", "Reads a file from the disk."),
        document("files", "remove_directory", "Removes a directory and what is in it."),
        document("mail", "sendMessage", "Sends an email."),
        document("mail", "listMessages", "Lists what has arrived."),
        document("shop", "create-invoice", "Writes an invoice for a customer."),
        document("shop", "describe_warehouse", "Tells what a warehouse holds."),
    ]
}

fn names(hits: &[Hit<'_>]) -> Vec<String> {
    hits.iter().map(|hit| hit.name.to_owned()).collect()
}

fn first(index: &Index, question: &str) -> String {
    index.search(question, 1).first().map(|hit| hit.name.to_owned()).unwrap_or_default()
}

#[test]
fn a_tool_is_found_by_the_words_of_its_name_however_it_is_spelled() {
    let index = Index::build(tools());
    for question in ["sendMessage", "send_message", "SEND-MESSAGE", "sending messages", "messages to send"] {
        assert_eq!(first(&index, question), "sendMessage", "{question}");
    }
}

#[test]
fn a_tool_is_found_by_other_words_for_the_same() {
    let index = Index::build(tools());
    assert_eq!(first(&index, "delete a folder"), "remove_directory");
    assert_eq!(first(&index, "get rid of a folder"), "remove_directory");
    assert_eq!(first(&index, "bill a client"), "create-invoice");
    assert_eq!(first(&index, "email somebody"), "sendMessage");
}

#[test]
fn a_slip_and_a_beginning_are_weak_signs() {
    let index = Index::build(tools());
    assert_eq!(first(&index, "warehosue"), "describe_warehouse");
    assert_eq!(first(&index, "wareho"), "describe_warehouse");
    assert_eq!(index.search("wareho penguin", 5), []);
    let both = Index::build([document("a", "warehouse", ""), document("a", "warehouses_of_warehosue", "")]);
    assert_eq!(first(&both, "warehosue"), "warehouses_of_warehosue");
}

#[test]
fn words_written_as_one_and_initials_are_known() {
    let mut index = Index::build(tools());
    assert_eq!(first(&index, "ware house"), "describe_warehouse");
    index.replace("zoo", [document("zoo", "open_gpc", ""), document("zoo", "open_door", "")]);
    assert_eq!(names(&index.search("giant penguin cage", 5)), ["open_gpc"]);
}

#[test]
fn what_stands_for_a_word_is_no_better_than_the_word() {
    let brands = ["brand_a", "brand_b", "brand_c", "brand_d", "brand_e"].map(|name| document("a", name, ""));
    let index = Index::build(brands.into_iter().chain([document("b", "logo", "")]));
    assert_eq!(first(&index, "brands"), "brand_a");
    assert_eq!(index.search("brands", 6).len(), 6);
}

#[test]
fn more_words_of_a_question_are_better_than_one_word_that_is_said_more() {
    let said = Document { title: "penguin".into(), ..document("a", "one", "Penguin.") };
    let both = Document { arguments: "penguin walrus seal otter".into(), ..document("b", "two", "") };
    let other = Document { arguments: "walrus".into(), ..document("c", "three", "") };
    let index = Index::build([said, both, other]);
    assert_eq!(first(&index, "penguin walrus"), "two");
}

#[test]
fn among_equal_tools_those_come_first_whose_server_is_about_the_question() {
    let about =
        |server, other| [document(server, "notify", "Tells when something is there."), document(server, other, "")];
    let index = Index::build(about("a", "get_door").into_iter().chain(about("b", "get_penguin")));
    let hits = index.search("notify penguin", 9);
    let notify: Vec<&str> = hits.iter().filter(|hit| hit.name == "notify").map(|hit| hit.server).collect();
    assert_eq!(notify, ["b", "a"]);
}

#[test]
fn a_server_is_found_by_its_name() {
    let index = Index::build(tools());
    assert_eq!(names(&index.search("shop", 5)), ["create-invoice", "describe_warehouse"]);
}

#[test]
fn a_name_counts_more_than_a_description_and_that_more_than_arguments() {
    let index = Index::build([
        Document { arguments: "penguin".into(), ..document("a", "one", "") },
        document("a", "two", "About a penguin."),
        document("a", "penguin", ""),
        document("a", "four", "First this. Then a penguin."),
    ]);
    assert_eq!(names(&index.search("penguin", 5)), ["penguin", "two", "four", "one"]);
}

#[test]
fn equal_tools_come_by_name_and_only_as_many_as_asked() {
    let documents = ["c", "a", "d", "b"].map(|name| document("a", name, "About a penguin."));
    let index = Index::build(documents);
    assert_eq!(names(&index.search("penguin", 9)), ["a", "b", "c", "d"]);
    assert_eq!(names(&index.search("penguin", 2)), ["a", "b"]);
    assert_eq!(index.search("penguin", 0), []);
}

#[test]
fn a_question_that_says_nothing_finds_nothing() {
    let index = Index::build(tools());
    for question in ["", "   ", "?!", "zzzz qqqq", "the"] {
        assert_eq!(index.search(question, 5), [], "{question:?}");
    }
    assert_eq!(Index::default().search("file", 5), []);
}

#[test]
fn the_tools_of_one_server_are_replaced_and_removed_alone() {
    let mut index = Index::build(tools());
    let before = index.clone();
    index.replace("mail", [document("whatever it says", "archive", "Keeps an email.")]);
    assert_eq!(names(&index.search("email", 5)), ["archive"]);
    assert_eq!(index.search("email", 5)[0].server, "mail");
    assert_eq!(names(&index.search("mail", 5)), ["archive"]);
    assert_eq!(index.search("whatever", 5), []);
    assert_eq!((index.len(), before.len()), (5, 6));
    assert_eq!(names(&before.search("email", 1)), ["sendMessage"]);
    index.remove("shop");
    assert_eq!(index.search("invoice", 5), []);
    index.replace("mail", []);
    index.remove("files");
    assert!(index.is_empty());
}

#[test]
fn how_an_index_came_to_be_does_not_show() {
    let built = Index::build(tools());
    let mut replaced = Index::build([document("mail", "old", "Old."), document("gone", "gone", "Sends email.")]);
    replaced.remove("gone");
    for server in ["shop", "mail", "files"] {
        replaced.replace(server, tools().into_iter().filter(|tool| tool.server == server));
    }
    let backwards = Index::build(tools().into_iter().rev());
    for question in ["send an email", "delete the file", "create", "warehouse"] {
        assert_eq!(replaced.search(question, 9), built.search(question, 9), "{question}");
        assert_eq!(names(&backwards.search(question, 9)), names(&built.search(question, 9)), "{question}");
    }
}

#[test]
fn an_index_says_what_it_takes() {
    let index = Index::build(tools());
    let texts: usize = tools().iter().map(|tool| tool.name.len() + tool.description.len()).sum();
    assert!((texts..100 * texts).contains(&index.bytes()), "{} bytes for {texts}", index.bytes());
    assert_eq!(Index::default().bytes(), 0);
    let parts = ["files", "mail", "shop"].map(|wanted| index.only(|server| server == wanted).bytes());
    assert_eq!(parts.iter().sum::<usize>(), index.bytes());
}

#[test]
fn only_what_is_wanted_is_found() {
    let index = Index::build(tools());
    let mail = index.only(|server| server == "mail");
    assert_eq!(mail.len(), 2);
    assert_eq!(mail.search("invoice", 5), []);
    let hits = index.search_where("send or list messages", 1, |server, name| server == "mail" && name != "sendMessage");
    assert_eq!(names(&hits), ["listMessages"]);
}

proptest! {
    #[test]
    fn any_tools_and_any_question_give_a_bounded_answer_in_order(
        texts in prop::collection::vec(("\\PC{0,30}", "\\PC{0,60}"), 0..12),
        question in "\\PC{0,80}",
        limit in 0_usize..8,
    ) {
        let documents = texts.iter().map(|(name, description)| Document {
            server: "any".into(),
            name: name.into(),
            description: description.into(),
            ..Document::default()
        });
        let index = Index::build(documents);
        let hits = index.search(&question, limit);
        prop_assert!(hits.len() <= limit);
        prop_assert!(hits.iter().all(|hit| hit.score.is_finite() && hit.score > 0.0));
        prop_assert!(hits.is_sorted_by(|one, other| order(one, other).is_le()));
        prop_assert_eq!(hits, index.search(&question, limit));
    }
}
