/* A small network whose weights stay in flash: checks the model, finds its tensors, and classifies
 * eight points with them. The same network as firmware/src/mlp.rs, with the same output. */
#include "board.h"
#include "accepted.h"
#include "weighbridge.h"

enum { INPUTS = 2, HIDDEN = 16, OUTPUTS = 2, TENSORS = 4, SLOTS = 16 };

/* From the linker script. */
extern const unsigned char model_start[], model_end[];

static wb_slot slots[SLOTS];

static const float points[8][INPUTS] = {{0.0f, 0.0f},   {0.7f, 0.0f},  {0.0f, -0.7f}, {-0.5f, 0.5f},
                                        {0.95f, 0.95f}, {-1.0f, 0.1f}, {0.1f, -0.2f}, {0.5f, 0.5f}};

/* The name of a tensor, its number in STB, and its extents. */
static const struct {
  const char *name;
  uint8_t id;
  uint32_t rank;
  uint64_t extents[2];
} wanted[TENSORS] = {{"hidden.bias", 0, 1, {HIDDEN, 0}},
                     {"hidden.weight", 1, 2, {HIDDEN, INPUTS}},
                     {"output.bias", 2, 1, {OUTPUTS, 0}},
                     {"output.weight", 3, 2, {OUTPUTS, HIDDEN}}};

static void put_hex(uint32_t number) {
  char text[9];
  for (int i = 0; i < 8; i++) {
    text[i] = "0123456789abcdef"[number >> (28 - 4 * i) & 15];
  }
  text[8] = '\0';
  board_put(text);
}

static uint32_t bits_of(float number) {
  union {
    float number;
    uint32_t bits;
  } both;
  both.number = number;
  return both.bits;
}

/* The numbers of a tensor in place; null if it is not as wanted. */
static const float *find(const wb_file *file, int which) {
  wb_tensor tensor;
  uint64_t extents[2] = {0, 0};
  if (wb_find(file, wanted[which].name, &tensor) != WB_OK &&
      wb_find_id(file, wanted[which].id, &tensor) != WB_OK) {
    return NULL;
  }
  if (tensor.dtype != WB_DTYPE_F32 || tensor.big_endian || tensor.rank != wanted[which].rank ||
      wb_shape(file, &tensor, extents, 2) != WB_OK || extents[0] != wanted[which].extents[0] ||
      extents[1] != wanted[which].extents[1] || (uintptr_t)tensor.data % sizeof(float) != 0) {
    return NULL;
  }
  return (const float *)tensor.data;
}

/* Each output is its bias plus the products, in order. */
static void layer(const float *weight, const float *bias, const float *input, int inputs,
                  float *output, int outputs) {
  for (int i = 0; i < outputs; i++) {
    float sum = bias[i];
    for (int j = 0; j < inputs; j++) {
      sum += weight[i * inputs + j] * input[j];
    }
    output[i] = sum;
  }
}

int main(void) {
  const float *weights[TENSORS];
  wb_finding first[8];
  wb_findings found = WB_FINDINGS(first);
  wb_file file;
  if (wb_open(&file, model_start, (size_t)(model_end - model_start), WB_DETECT, &found) != WB_OK ||
      !is_accepted(wb_check(&file, slots, SLOTS, &found), &file, &found, 0)) {
    board_put("refused: ");
    board_put(wb_rule_id(first[0].rule));
    board_put(" at offset 0x");
    put_hex((uint32_t)first[0].offset);
    board_put("\n");
    return 1;
  }
  for (int i = 0; i < TENSORS; i++) {
    weights[i] = find(&file, i);
    if (weights[i] == NULL) {
      board_put("not the model that this program runs\n");
      return 1;
    }
  }
  for (int i = 0; i < 8; i++) {
    float hidden[HIDDEN], output[OUTPUTS];
    layer(weights[1], weights[0], points[i], INPUTS, hidden, HIDDEN);
    for (int j = 0; j < HIDDEN; j++) {
      hidden[j] = hidden[j] > 0.0f ? hidden[j] : 0.0f;
    }
    layer(weights[3], weights[2], hidden, HIDDEN, output, OUTPUTS);
    board_put("c: ");
    put_hex(bits_of(output[0]));
    board_put(" ");
    put_hex(bits_of(output[1]));
    board_put(output[1] > output[0] ? " class 1\n" : " class 0\n");
  }
  return 0;
}
