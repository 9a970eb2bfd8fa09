//! Reads pickles from standard input, each preceded by a four-byte length, and answers each with a
//! line: how the scan ended and where, and for each operation its offset, byte and argument.

use std::io::{Read, Write};
use weighbridge_core::pickle::{
    PickleEnd, PickleEvent, PickleItem, PickleMemory, PickleScan, PickleStop, PickleValue, Spelling,
};
use weighbridge_core::{Source, Span};

fn main() -> std::io::Result<()> {
    let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    let mut len = [0; 4];
    while input.read_exact(&mut len).is_ok() {
        let mut pickle = vec![0; u32::from_le_bytes(len) as usize];
        input.read_exact(&mut pickle)?;
        let mut operations = Vec::new();
        let end = match scan(&pickle, &mut operations) {
            PickleEnd::Stopped(at) => format!("stopped {at}"),
            PickleEnd::Broken(at) => format!("broken {at}"),
            PickleEnd::Unchecked(at) => format!("unchecked {at}"),
            _ => "unknown 0".to_owned(),
        };
        write!(output, "{end}")?;
        for (at, byte, argument) in operations {
            write!(output, " {at}:{byte}:{argument}")?;
        }
        writeln!(output)?;
        output.flush()?;
    }
    Ok(())
}

fn scan(pickle: &[u8], operations: &mut Vec<(u64, u8, String)>) -> PickleEnd {
    let (mut stack, mut memo) = (Vec::new(), Vec::new());
    let mut scan = PickleScan::of(Span::new(0, pickle.len() as u64)).watched();
    // After a frame that ends in an operation, a scan goes on as the unpickler in C does.
    let mut fault = None;
    loop {
        let memory = PickleMemory { stack: &mut stack, memo: &mut memo };
        let ended = scan.step(&Source::whole(pickle), memory, &mut |event| match event {
            PickleEvent::Operation { at, byte, value } if fault.is_none() => {
                operations.push((at, byte, argument(pickle, value)));
            }
            PickleEvent::Fault { at, .. } => fault = fault.or(Some(PickleEnd::Broken(at))),
            _ => {}
        });
        match ended {
            Ok(end) => return fault.unwrap_or(end),
            Err(PickleStop::NeedStack(len)) => stack.resize(len, PickleItem::EMPTY),
            Err(PickleStop::NeedMemo(len)) => memo.resize(len, PickleItem::EMPTY),
            Err(stop) => panic!("{stop:?} of a pickle in memory"),
        }
    }
}

/// The argument: a number, the bytes of a text, or a hyphen.
fn argument(pickle: &[u8], value: PickleValue) -> String {
    match value {
        PickleValue::Bool(value) => u8::from(value).to_string(),
        PickleValue::Integer(value) => value.to_string(),
        PickleValue::Float(value) if !value.is_nan() => format!("{:016x}", value.to_bits()),
        PickleValue::Text(span, Spelling::Plain) => {
            let from = span.offset as usize;
            let bytes = &pickle[from..from + span.len as usize];
            let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("x{hex}")
        }
        _ => "-".to_owned(),
    }
}
