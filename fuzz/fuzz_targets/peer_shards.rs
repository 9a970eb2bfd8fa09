#![no_main]
weighbridge_fuzz::target!("peer_shards");
