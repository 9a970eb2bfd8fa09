//! Bytes that change between two calls: a file being written, or flash being
//! updated.

use crate::walk::Tally;
use crate::{Tail, format_of};
use weighbridge_core::codec::{Decoder, Fault, Undecoded, WINDOW};
use weighbridge_core::{
    Audit, Cursor, File, Finding, Index, Opening, Scratch, Slot, Source, Sparse, Stop, Tensor,
    Window,
};

/// Runs over two states of a file; the bits of a number select the state that
/// each call sees. Answers may be wrong, but nothing may panic, loop or leave
/// the file.
pub fn changing(input: &[u8]) {
    let mut tail = Tail::new(input);
    let (format, changes) = (format_of(tail.byte()), tail.byte() % 12);
    let order = u64::from(tail.word()) | u64::from(tail.word()) << 16;
    let mut edits = Vec::new();
    for _ in 0..changes {
        edits.push((tail.word(), tail.byte()));
    }
    let cut = if order & 0x8000_0000 == 0 { 0 } else { usize::from(tail.byte()) };
    let before = tail.rest;
    let mut after = before.to_vec();
    for (at, value) in edits {
        if let Some(byte) = after.get_mut(usize::from(at)) {
            *byte = value;
        }
    }
    // A file that shrinks: it keeps its declared length, but the bytes are
    // missing.
    let left = after.len().saturating_sub(cut);
    after.truncate(left);
    let states = [before, &after[..]];
    let mut turn = order;
    let len = before.len() as u64;
    let mut next = || {
        turn = turn.rotate_right(1);
        states[(turn & 1) as usize]
    };
    let _ = run(format, len, &mut next);
}

/// Missing bytes (in the truncated state) end the run.
fn run<'a>(
    format: weighbridge_core::Format,
    len: u64,
    next: &mut dyn FnMut() -> &'a [u8],
) -> Result<(), Stop> {
    let tally = std::cell::RefCell::new(Tally::new(len as usize));
    let sink = |finding: Finding| tally.borrow_mut().note(&finding);
    macro_rules! ask {
        (|$source:ident| $call:expr) => {{
            let windows = [Window { offset: 0, bytes: next() }];
            let $source = &Source::windows(len, &windows);
            $call
        }};
    }
    let mut opening = Opening::of(Some(format));
    let file = match ask!(|s| opening.step(s, &mut |f| sink(f))) {
        Err(Stop::NeedBytes(_)) => ask!(|s| opening.step(s, &mut |f| sink(f)))?,
        opened => opened?,
    };
    let mut cursor = Cursor::default();
    for _ in 0..64 {
        let Some(meta) = ask!(|s| Ok::<_, Stop>(
            file.next_meta(s, &mut cursor, &mut |f| sink(f))?.map(|entry| entry.metadata)
        ))?
        else {
            break;
        };
        ask!(|s| meta.key.read(s).map(|key| key.chars().count()))?;
        ask!(|s| file.value(s, &meta))?;
    }
    let mut cursor = Cursor::default();
    let mut tensors: Vec<Tensor> = Vec::new();
    for _ in 0..64 {
        let Some(tensor) = ask!(|s| Ok::<_, Stop>(
            file.next_tensor(s, &mut cursor, &mut |f| sink(f))?.map(|entry| entry.tensor)
        ))?
        else {
            break;
        };
        tensors.push(tensor);
    }
    for tensor in &tensors {
        // These calls may fail in any way, but a fault in one tensor must not
        // affect the next.
        let _: Result<(), Stop> = (|| {
            ask!(|s| tensor.name(s).map(|name| name.chars().count()))?;
            ask!(|s| tensor.dims(s).map(|dims| dims.product()))?;
            ask!(|s| file.checksum(s, tensor))?;
            particulars(&file, tensor, len, next)?;
            let mut own = Cursor::default();
            for _ in 0..16 {
                let Some(meta) = ask!(|s| Ok::<_, Stop>(
                    file.next_attribute(s, tensor, &mut own)?.map(|entry| entry.metadata)
                ))?
                else {
                    break;
                };
                ask!(|s| file.value(s, &meta))?;
            }
            for i in 0..tensor.chunks.count().min(8) {
                let Some(chunk) = ask!(|s| file.chunk(s, tensor, i))? else { break };
                data(&chunk, tensor, len, next);
            }
            Ok(())
        })();
    }
    let mut slots = vec![Slot::EMPTY; 512];
    let mut index = Index::new(&mut slots[..], 3);
    for _ in 0..3 {
        if !matches!(ask!(|s| index.step(&file, s)), Err(Stop::NeedBytes(_))) {
            break;
        }
    }
    for tensor in tensors.iter().take(8) {
        let windows = [Window { offset: 0, bytes: next() }];
        let source = Source::windows(len, &windows);
        if let Ok(name) = tensor.name(&source) {
            let _ = ask!(|s| index.find(&file, s, &name));
        }
    }
    audit(file, len, next, &sink);
    Ok(())
}

fn particulars<'a>(
    file: &File,
    tensor: &Tensor,
    len: u64,
    next: &mut dyn FnMut() -> &'a [u8],
) -> Result<(), Stop> {
    let windows = [Window { offset: 0, bytes: next() }];
    let source = &Source::windows(len, &windows);
    match file {
        File::Oinf(header) => drop(header.quantization(source, tensor)),
        File::Stb(header) => drop((header.id(source, tensor), header.dtype_code(source, tensor))),
        File::ZTensor(header) => drop(header.checksum(source, tensor)),
        File::Safetensors(header) => drop(header.dtype_text(source, tensor)),
        File::Gguf(header) => drop(header.dtype_code(source, tensor)),
        File::BinTensors(header) => drop(header.dtype_code(source, tensor)),
        File::Idv(header) => {
            let codec = header.codec(source, tensor)?;
            let bytes = next();
            for rows in [0, 1, 3, u64::MAX] {
                if let Ok(block) = header.block(&codec, rows, &bytes[bytes.len() / 2..]) {
                    assert_eq!(block.rows().count() as u64, rows);
                }
            }
        }
        _ => {}
    }
    Ok(())
}

/// Decodes while the bytes change.
fn data<'a>(
    chunk: &weighbridge_core::Chunk,
    tensor: &Tensor,
    len: u64,
    next: &mut dyn FnMut() -> &'a [u8],
) {
    let mut decoder = Decoder::new();
    let mut buffer = vec![0; WINDOW];
    if decoder.start_chunk(chunk).is_err() || chunk.decoded.is_none_or(|size| size > 1 << 20) {
        return;
    }
    let mut first = Vec::new();
    loop {
        let windows = [Window { offset: 0, bytes: next() }];
        let room = buffer.len() as u64;
        match decoder.next(&Source::windows(len, &windows), &mut buffer) {
            Ok(Some(piece)) if first.is_empty() => first.extend_from_slice(piece),
            Ok(Some(_)) => {}
            Err(Undecoded::Fault(Fault::Buffer)) if decoder.buffer() > room => {
                buffer = vec![0; decoder.buffer() as usize];
            }
            Ok(None) | Err(Undecoded::Absent(_) | Undecoded::Fault(_)) => break,
        }
    }
    let dims = [tensor.elements, 1];
    if let Some(sparse) = Sparse::new(tensor, dims, &first) {
        std::hint::black_box((sparse.value(0), sparse.pointer(1), sparse.coordinate(0, 1)));
    }
    std::hint::black_box(tensor.dtype.element(&first, 0, tensor.endianness));
}

fn audit<'a>(file: File, len: u64, next: &mut dyn FnMut() -> &'a [u8], sink: &dyn Fn(Finding)) {
    let mut audit = Audit::new(file);
    let mut slots = vec![Slot::EMPTY; 16];
    let mut buffer = vec![0; WINDOW];
    let mut scratch = Scratch::new(&mut buffer);
    let mut stuck = 0;
    loop {
        let windows = [Window { offset: 0, bytes: next() }];
        let source = Source::windows(len, &windows);
        match audit.step_with(&source, &mut slots, &mut scratch, &mut |f| sink(f)) {
            Ok(()) | Err(Stop::Invalid(_)) => return,
            Err(Stop::NeedSlots { needed })
                if needed as usize > slots.len() && needed < 1 << 16 =>
            {
                slots.resize(needed as usize, Slot::EMPTY);
            }
            Err(Stop::NeedSlots { .. } | Stop::NeedBuffer { .. }) => audit.skip(&mut |f| sink(f)),
            Err(_) => {
                // In half of the states the bytes may be missing for good.
                stuck += 1;
                if stuck > 64 {
                    return;
                }
            }
        }
    }
}
