/* The model as a section of its own; the linker script says where it lies. */
    .section .model, "a"
    .incbin MODEL
    .section .note.GNU-stack, "", %progbits
