//! Output and exit through the debugger, here QEMU.

use core::fmt::{self, Write};
use cortex_m_semihosting::debug::{EXIT_FAILURE, EXIT_SUCCESS, exit};
use cortex_m_semihosting::hio::{self, HostStream};

/// Buffered standard output of the host: each call to the host stops the
/// processor.
pub struct Console {
    stream: Option<HostStream>,
    buffer: [u8; 1024],
    filled: usize,
}

impl Console {
    /// Opens the host's standard output.
    pub fn open() -> Self {
        Console { stream: hio::hstdout().ok(), buffer: [0; 1024], filled: 0 }
    }

    /// Writes out the buffered bytes.
    pub fn flush(&mut self) {
        if let (Some(stream), Some(bytes)) = (&mut self.stream, self.buffer.get(..self.filled)) {
            // If the host accepts nothing, there is nowhere to report it.
            let _ = stream.write_all(bytes);
        }
        self.filled = 0;
    }

    /// Ends the program with status 0 or 1 on the host.
    pub fn exit(mut self, success: bool) -> ! {
        self.flush();
        leave(success)
    }
}

impl Write for Console {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            if self.filled == self.buffer.len() {
                self.flush();
            }
            if let Some(slot) = self.buffer.get_mut(self.filled) {
                *slot = byte;
                self.filled += 1;
            }
        }
        Ok(())
    }
}

/// Ends the program.
pub fn leave(success: bool) -> ! {
    loop {
        exit(if success { EXIT_SUCCESS } else { EXIT_FAILURE });
    }
}

/// Handles panics of the image; the core itself never panics.
#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    let mut console = Console::open();
    let _ = writeln!(console, "{info}");
    console.exit(false)
}
