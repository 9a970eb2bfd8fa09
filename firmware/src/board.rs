//! Output and exit through the debugger, which is QEMU here.

use core::fmt::{self, Write};
use cortex_m_semihosting::debug::{EXIT_FAILURE, EXIT_SUCCESS, exit};
use cortex_m_semihosting::hio::{self, HostStream};

/// Standard output of the host, with a buffer in front of it: each call to the
/// host stops the processor.
pub struct Console {
    stream: Option<HostStream>,
    buffer: [u8; 1024],
    filled: usize,
}

impl Console {
    /// Opens it.
    pub fn open() -> Self {
        Console { stream: hio::hstdout().ok(), buffer: [0; 1024], filled: 0 }
    }

    /// Passes on what is buffered.
    pub fn flush(&mut self) {
        if let (Some(stream), Some(bytes)) = (&mut self.stream, self.buffer.get(..self.filled)) {
            // There is no one to report to if the host takes nothing.
            let _ = stream.write_all(bytes);
        }
        self.filled = 0;
    }

    /// Ends the program; the host sees status 0 or 1.
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

/// A panic of an image, which the core has none of.
#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    let mut console = Console::open();
    let _ = writeln!(console, "{info}");
    console.exit(false)
}
