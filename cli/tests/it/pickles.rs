
/// Every form of a type that makes NumPy load a pickle.
#[test]
fn array_of_objects_names_what_it_would_run_in_every_form_of_its_type() {
    let descrs = ["'|O'", "'3O'", "'(2,)O'", "'i4,O'", "'>O'", "'object'", "'T'", "[('a', 'T')]"];
    for descr in descrs {
        let folder = Folder::new();
        let dictionary = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (1,), }}\n");
        let mut file = b"\x93NUMPY\x01\0".to_vec();
        file.extend((dictionary.len() as u16).to_le_bytes());
        file.extend(dictionary.as_bytes());
        file.extend(b"cposix\nsystem\n(S'id'\ntR.");
        folder.write("a.npy", &file);
        let found = run(&folder, &["check", "a.npy"]);
        assert_eq!(found.code, 1, "{descr}: {found:?}");
        assert!(found.out.contains("would run posix.system"), "{descr}: {found:?}");
    }
}

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
