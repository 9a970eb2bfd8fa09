#![no_main]
weighbridge_fuzz::target!("executorch");
