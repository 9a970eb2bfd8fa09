//! The same file, read through every kind of input.

use std::io;
use std::sync::Mutex;
use weighbridge::weighbridge_core::Cursor;
use weighbridge::weighbridge_core::codec::Undecoded;
use weighbridge::weighbridge_core::format::idv::block::Row;
use weighbridge::{
    Decoding, Goal, Input, Model, Options, Poll, ReadError, RowReader, Session, Span,
};
use weighbridge_tests::encode::safetensors::{File, Tensor};
use weighbridge_tests::samples;

/// A store that records which ranges are requested.
struct Counted<'b> {
    bytes: &'b [u8],
    asked: Mutex<Vec<Span>>,
}

impl Input for &Counted<'_> {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<(), ReadError> {
        let span = Span::new(offset, buffer.len() as u64);
        self.asked.lock().expect("no thread panics").push(span);
        let from = offset as usize;
        let bytes = self.bytes.get(from..from + buffer.len());
        buffer.copy_from_slice(bytes.ok_or(ReadError::Changed)?);
        Ok(())
    }
}

#[test]
fn elements_are_equal_from_every_input() {
    let bytes = samples::safetensors();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.safetensors");
    std::fs::write(&path, &bytes).expect("writes");
    let counted = Counted { bytes: &bytes, asked: Mutex::default() };
    let models = [
        Model::from_bytes(&bytes).expect("opens"),
        Model::open(&path).expect("opens"),
        Model::from_reader(io::Cursor::new(&bytes)).expect("opens"),
        Model::from_input(&counted).expect("opens"),
    ];
    for model in &models {
        let all: Vec<f32> = model.tensor("emb").expect("is there").to_vec().expect("reads");
        assert_eq!(all, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        model.verify_unchanged().expect("nothing has changed");
    }
}

/// Only the header and the requested range of a large file are read.
#[test]
fn slice_of_large_tensor_reads_only_the_slice() {
    let large = Tensor::new("large", "F32", &[1 << 20]);
    let file = File { metadata: None, tensors: vec![large, Tensor::new("b", "U8", &[3])] };
    let bytes = file.encode();
    let counted = Counted { bytes: &bytes, asked: Mutex::default() };
    let model = Model::from_input(&counted).expect("opens");
    let slice: Vec<f32> =
        model.tensor("large").expect("is there").slice(500_000..500_010).expect("reads");
    assert_eq!(slice.len(), 10);
    let read: u64 = counted.asked.lock().expect("whole").iter().map(|span| span.len).sum();
    assert!(read < 200_000, "{read} bytes");
}

#[test]
fn model_is_shared_between_threads() {
    let bytes = samples::safetensors();
    let model = Model::from_reader(io::Cursor::new(bytes)).expect("opens");
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let emb = model.tensor("emb").expect("is there");
                assert_eq!(emb.slice::<f64>(5..6).expect("reads"), [5.0]);
            });
        }
    });
}

#[test]
fn session_lists_tensors_without_input() {
    let bytes = samples::safetensors();
    let mut session = Session::new(bytes.len() as u64, Options::new().granule(64 << 10));
    let mut rounds = 0;
    while let Poll::Need(ranges) = session.poll(Goal::Index).expect("reads") {
        rounds += 1;
        for Span { offset, len } in ranges {
            session.supply(offset, &bytes[offset as usize..][..len as usize]);
        }
    }
    assert_eq!(rounds, 1, "a small file takes one request");
    let emb = &session.tensors()[0];
    assert_eq!((emb.name().as_str(), emb.span().map(|span| span.len)), (Some("emb"), Some(12)));
}

/// The answer of `ask` once all the bytes it needs were supplied, in ranges of 16 bytes.
fn settle<T>(
    bytes: &[u8],
    session: &mut Session<'_>,
    mut ask: impl FnMut(&mut Session<'_>) -> Option<T>,
) -> T {
    for _ in 0..10_000 {
        if let Some(answer) = ask(session) {
            return answer;
        }
        for Span { offset, len } in session.needs().to_vec() {
            session.supply(offset, &bytes[offset as usize..][..len as usize]);
        }
    }
    panic!("it asks for ever: {:?}", session.needs());
}

#[test]
fn rows_and_decoded_data_come_from_any_pieces() {
    let few = || Options::new().granule(16).kept(256);
    let bytes = samples::columns();
    let mut session = Session::new(bytes.len() as u64, few());
    settle(&bytes, &mut session, |session| session.advance(Goal::Payloads).then_some(()));
    assert!(session.findings().is_empty() && session.needs().is_empty());
    let column = settle(&bytes, &mut session, |session| {
        let first = session.ask(|file, source| {
            let entry = file.next_tensor(source, &mut Cursor::default(), &mut |_| {})?;
            Ok(entry.map(|entry| entry.tensor))
        });
        first.ok().flatten().flatten()
    });
    let (mut reader, mut lengths) = (RowReader::default(), Vec::new());
    for (rows, count) in [(1..9, 1), (0..2, 2), (2..9, 0)] {
        let read = settle(&bytes, &mut session, |session| {
            lengths.clear();
            let read = session.ask(|file, source| {
                let take = &mut |row: &Row<'_>| match row {
                    Row::Vector(vector) => lengths.push(vector.len()),
                    Row::Scalar(_) => lengths.push(0),
                };
                reader.rows(file, source, &column, rows.clone(), take)
            });
            read.ok().flatten()
        });
        assert_eq!((read, &lengths), (Some(count), &vec![3; count as usize]));
    }

    let bytes = samples::compressed();
    let mut session = Session::new(bytes.len() as u64, few());
    settle(&bytes, &mut session, |session| session.advance(Goal::Header).then_some(()));
    let chunk = settle(&bytes, &mut session, |session| {
        let chunk = session.ask(|file, source| {
            let entry = file.next_tensor(source, &mut Cursor::default(), &mut |_| {})?;
            entry.map_or(Ok(None), |entry| file.chunk(source, &entry.tensor, 0))
        });
        chunk.ok().flatten().flatten()
    });
    let (mut decoding, mut decoded) = (Decoding::new(chunk), 0);
    settle(&bytes, &mut session, |session| {
        let more = session.ask(|_, source| match decoding.step(source) {
            Err(Undecoded::Absent(absent)) => Err(absent.into()),
            step => Ok(step.expect("it is whole")),
        });
        let more = more.ok().flatten()?;
        decoded += decoding.piece().len();
        (!more).then_some(())
    });
    assert!(decoding.is_done() && decoded == 4000);
}

#[test]
fn progress_reaches_the_end_of_the_file() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("a.safetensors");
    std::fs::write(&path, samples::safetensors()).expect("writes");
    let seen = std::sync::Arc::new(Mutex::new(Vec::new()));
    let hook = seen.clone();
    let options = Options::new().on_progress(move |progress| {
        assert!(progress.file.is_some() && progress.read <= progress.len);
        hook.lock().expect("whole").push(progress.done);
    });
    weighbridge::check_path(&path, &options).expect("reads");
    let seen = seen.lock().expect("whole");
    assert!(seen.len() >= 2 && seen.iter().filter(|done| **done).count() == 1);
    assert_eq!(seen.last(), Some(&true));
}
