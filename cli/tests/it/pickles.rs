
#[test]
fn inspect_lists_what_a_pickle_imports() {
    let folder = Folder::new();
    folder.write("x.pkl", b"cposix\nsystem\n(S'id'\ntR.");
    let shown = run(&folder, &["inspect", "x.pkl"]);
    let line = "imports of the pickle\n  not listed  called    posix.system  at 0\n";
    assert!(shown.out.contains(line), "{shown:?}");
    let globals = &run(&folder, &["inspect", "x.pkl", "--json"]).json()["globals"];
    assert_eq!(globals.as_array().map(Vec::len), Some(1));
    assert_eq!(globals[0]["called"], true);
    assert_eq!((&globals[0]["standing"], &globals[0]["offset"]), (&"not listed".into(), &0.into()));
}
