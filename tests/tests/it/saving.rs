//! What a session saves as safetensors has the bytes that `Convert` writes, wherever the bytes of the
//! model come from.

use weighbridge::save::{Convert, Saving, Step};
use weighbridge::{Error, Format, Goal, Index, Options, Profile, Session, Verdict};
use weighbridge_tests::fixtures::{self, Fixture, pytorch};

/// Reasons that only a session has for leaving a tensor out.
const OWN: [&str; 2] = ["its rows are not read piece by piece", "its elements lie too far apart"];

/// Supplies what a session needs.
fn supply(session: &mut Session<'_>, file: &[u8]) {
    let needs = session.needs().to_vec();
    assert!(!needs.is_empty(), "it waits for nothing");
    for span in needs {
        let from = span.offset as usize;
        session.supply(span.offset, &file[from..from + span.len as usize]);
    }
}

/// The index of a file, and its session.
fn opened(file: &[u8], options: Options) -> (Session<'static>, Index) {
    let mut session = Session::new(file.len() as u64, options);
    while !session.advance(Goal::Structure) {
        supply(&mut session, file);
    }
    let (mut index, mut cursor) = (Index::default(), Default::default());
    loop {
        let listed = session.ask(|file, source| {
            let mut next = cursor;
            while let Some(found) =
                file.next_tensor(source, &mut next, &mut |_| {}).inspect_err(|_| cursor = next)?
            {
                index.push(source, found.tensor)?;
                cursor = next;
            }
            Ok(())
        });
        match listed {
            Err(weighbridge_core::Stop::NeedBytes(_)) => supply(&mut session, file),
            _ => return (session, index),
        }
    }
}

/// What a session saves, and the reasons for what it leaves out.
fn saved(file: &[u8], options: Options) -> Result<(Vec<u8>, Vec<String>), Error> {
    let (mut session, index) = opened(file, options);
    let mut saving = Saving::new();
    while !saving.plan(&mut session, &index, Profile::Strict)? {
        supply(&mut session, file);
    }
    let left_out = saving.left_out().iter().map(|left| left.why.clone()).collect();
    let mut out = Vec::new();
    loop {
        match saving.next(&mut session, &index)? {
            Step::Bytes(bytes) => {
                assert!(!bytes.is_empty() && bytes.len() < 2 << 20, "{} bytes", bytes.len());
                out.extend(bytes);
            }
            Step::Copy(span) => {
                out.extend_from_slice(&file[span.offset as usize..][..span.len as usize]);
            }
            Step::Need => supply(&mut session, file),
            _ => break,
        }
    }
    assert_eq!(saving.len(), Some(out.len() as u64));
    Ok((out, left_out))
}

#[test]
fn a_session_saves_the_bytes_that_convert_writes() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (mut compared, mut arranged) = (std::collections::BTreeMap::<_, usize>::new(), 0);
    let others = fixtures::for_hosts().into_iter().filter(|(format, _)| *format != "shards");
    for (format, all) in others.chain([("pytorch", pytorch::all())]) {
        let options = Options::new().format(Format::by_name(format).expect("a format"));
        for Fixture { name, bytes, .. } in all {
            let what = format!("{format} {name}");
            let (from, to) = (folder.path().join("in"), folder.path().join("out"));
            std::fs::write(&from, &bytes).expect("room for a file");
            let done = Convert::new().options(options.clone()).overwrite().run(&from, &to);
            let done = done.unwrap_or_else(|error| panic!("{what}: {error}"));
            if done.report().verdict(Profile::Strict) == Verdict::Invalid {
                continue;
            }
            let found = saved(&bytes, options.clone());
            if !done.is_written() {
                // The reasons are the same ones.
                let whys: Vec<_> = done.left_out().iter().map(|left| left.why.clone()).collect();
                if let Ok((_, found)) = found
                    && !found.iter().any(|why| OWN.contains(&why.as_str()))
                {
                    assert!(whys.is_empty() || found == whys, "{what}: {found:?}, {whys:?}");
                }
                continue;
            }
            let (found, left_out) = found.unwrap_or_else(|error| panic!("{what}: {error}"));
            if !left_out.is_empty() {
                let is_own = |why: &String| OWN.contains(&why.as_str());
                assert!(left_out.iter().all(is_own), "{what}: {left_out:?}");
                continue;
            }
            assert_eq!(found, std::fs::read(&to).expect("it was written"), "{what}");
            *compared.entry(format).or_default() += 1;
            let model = weighbridge::Model::from_bytes(&bytes);
            arranged += usize::from(model.is_ok_and(|model| {
                model.tensors().flatten().any(|tensor| tensor.layout().name() == "strided")
            }));
        }
    }
    assert!(arranged > 0, "no view with strides");
    for format in ["bintensors", "gguf", "npy", "npz", "oinf", "pytorch", "safetensors", "ztensor"]
    {
        assert!(compared.contains_key(format), "no {format}: {compared:?}");
    }
}

#[test]
fn an_invalid_model_is_saved_only_by_force() {
    let broken = pytorch::all().into_iter().find(|it| it.breaks == ["T-RANGE"]).expect("one");
    let options = || Options::new().format(Format::PyTorch);
    assert!(saved(&broken.bytes, options()).is_err());
    let (mut session, index) = opened(&broken.bytes, options());
    let mut saving = Saving::new().force();
    while !saving.plan(&mut session, &index, Profile::Strict).expect("it is planned") {
        supply(&mut session, &broken.bytes);
    }
    assert_eq!(saving.tensors() + saving.left_out().len(), index.len());
    assert!(!saving.left_out().is_empty());
}
