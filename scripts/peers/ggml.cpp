// Reads GGUF files like ggml (ggml/src/gguf.cpp): paths on standard input, "accepts"
// or "refuses" for each on standard output. Each file has its own process and ten
// seconds.
//
// With a folder as argument it instead writes a file for every element type, like
// ggml (gguf_write_to_file): NUMBER.gguf with random blocks and a tensor after them,
// and NUMBER.f32 with ggml's conversion of the blocks, if there is one. Each line of
// output has number, name, elements and bytes of a block, and bytes of the tensor; a
// dash replaces the name of a number that ggml has dropped.
//
// With BLOCKS ELEMENTS ROUNDS it measures how fast blocks are converted to f32, like
// tests/examples/dequantise.rs.
#include "ggml.h"
#include "gguf.h"
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

// Symbols that ggml.c refers to but reading a header does not reach.
extern "C" {
void ggml_backend_buffer_get_usage() {}
void ggml_backend_tensor_get() {}
void ggml_backend_tensor_memset() {}
void ggml_backend_tensor_set() {}
}

static void write_type(const std::string & folder, int number, std::mt19937 & random) {
    const ggml_type type = ggml_type(number);
    const int64_t block = ggml_blck_size(type);
    if (block == 0) {
        printf("%d - 0 0 0\n", number);
        return;
    }
    ggml_context * context = ggml_init({ /*mem_size*/ 1 << 20, nullptr, /*no_alloc*/ false });
    ggml_tensor * blocks = ggml_new_tensor_2d(context, type, 2 * block, 3);
    ggml_set_name(blocks, "blocks");
    uint8_t * bytes = (uint8_t *) blocks->data;
    for (size_t i = 0; i < ggml_nbytes(blocks); i++) {
        bytes[i] = random();
    }
    ggml_tensor * last = ggml_new_tensor_1d(context, GGML_TYPE_F32, 5);
    ggml_set_name(last, "last");
    memset(last->data, 0, ggml_nbytes(last));

    gguf_context * file = gguf_init_empty();
    gguf_set_val_str(file, "general.architecture", "none");
    gguf_add_tensor(file, blocks);
    gguf_add_tensor(file, last);
    const std::string path = folder + "/" + std::to_string(number);
    if (!gguf_write_to_file(file, (path + ".gguf").c_str(), /*only_meta*/ false)) {
        fprintf(stderr, "cannot write %s.gguf\n", path.c_str());
        exit(1);
    }
    if (const ggml_to_float_t to_float = ggml_get_type_traits(type)->to_float) {
        std::string values(ggml_nelements(blocks) * sizeof(float), 0);
        to_float(blocks->data, (float *) &values[0], ggml_nelements(blocks));
        FILE * out = fopen((path + ".f32").c_str(), "wb");
        fwrite(values.data(), 1, values.size(), out);
        fclose(out);
    }
    printf("%d %s %lld %zu %zu\n", number, ggml_type_name(type), (long long) block,
        ggml_type_size(type), ggml_nbytes(blocks));
    gguf_free(file);
    ggml_free(context);
}

static int speed(const char * path, int64_t elements, int rounds) {
    ggml_free(ggml_init({ 0, nullptr, true }));
    std::vector<char> blocks(elements * 2);
    FILE * in = fopen(path, "rb");
    if (!in || fread(blocks.data(), 1, blocks.size(), in) != blocks.size()) {
        return 1;
    }
    fclose(in);
    std::vector<float> out(elements);
    for (ggml_type type : { GGML_TYPE_Q4_0, GGML_TYPE_Q5_0, GGML_TYPE_Q8_0, GGML_TYPE_Q2_K, GGML_TYPE_Q3_K,
                            GGML_TYPE_Q4_K, GGML_TYPE_Q5_K, GGML_TYPE_Q6_K, GGML_TYPE_IQ4_NL }) {
        double least = 1e9;
        for (int i = 0; i < rounds; i++) {
            const auto begun = std::chrono::steady_clock::now();
            ggml_get_type_traits(type)->to_float(blocks.data(), out.data(), elements);
            least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count());
        }
        std::string name = ggml_type_name(type);
        for (char & letter : name) {
            letter = tolower(letter);
        }
        printf("%s %.3f\n", name.c_str(), elements * 4 / 1e9 / least);
    }
    return 0;
}

int main(int count, char ** arguments) {
    if (count == 4) {
        return speed(arguments[1], atoll(arguments[2]), atoi(arguments[3]));
    }
    if (count > 1) {
        std::mt19937 random(20261122);
        for (int number = 0; number < GGML_TYPE_COUNT; number++) {
            write_type(arguments[1], number, random);
        }
        return 0;
    }
    char path[4096];
    while (fgets(path, sizeof path, stdin)) {
        path[strcspn(path, "\n")] = 0;
        const pid_t child = fork();
        if (child == 0) {
            alarm(10);
            gguf_context * read = gguf_init_from_file(path, { /*no_alloc*/ true, /*ctx*/ nullptr });
            _exit(read == nullptr);
        }
        int status = 0;
        waitpid(child, &status, 0);
        puts(status == 0 ? "accepts" : "refuses");
        fflush(stdout);
    }
}
