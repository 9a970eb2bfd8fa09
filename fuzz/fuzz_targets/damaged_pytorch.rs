#![no_main]
weighbridge_fuzz::target!("damaged_pytorch");
