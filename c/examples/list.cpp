// Lists the tensors of the model in flash from C++, without exceptions or a heap.
#include "board.h"
#include <stddef.h>

#include "weighbridge.h"

extern "C" const unsigned char model_start[], model_end[];

namespace {

// An open file whose tensors a range-based for visits.
class Model {
 public:
  Model(const void *data, size_t len) : code_(wb_open(&file_, data, len, WB_DETECT, nullptr)) {}

  template <size_t N>
  bool valid(wb_slot (&slots)[N]) const {
    return code_ == WB_OK && wb_check(&file_, slots, N, nullptr) == WB_OK;
  }

  class Iterator {
   public:
    explicit Iterator(const wb_file *file) : file_(file), cursor_() { ++*this; }
    const wb_tensor &operator*() const { return tensor_; }
    Iterator &operator++() {
      if (wb_next(file_, &cursor_, &tensor_) != WB_OK) file_ = nullptr;
      return *this;
    }
    bool operator!=(decltype(nullptr)) const { return file_ != nullptr; }

   private:
    const wb_file *file_;
    wb_cursor cursor_;
    wb_tensor tensor_;
  };

  struct Tensors {
    const wb_file *file;
    Iterator begin() const { return Iterator(file); }
    decltype(nullptr) end() const { return nullptr; }
  };

  Tensors tensors() const { return {&file_}; }

  void put_name(const wb_tensor &tensor) const {
    char name[64];
    wb_name(&file_, &tensor, name, sizeof name);
    board_put(name);
  }

 private:
  wb_file file_;
  wb_code code_;
};

const char *dtype_name(uint8_t dtype) {
  switch (dtype) {
#define WB_NAME(constant, number, name, bits, elements, bytes) \
  case number:                                                 \
    return name;
    WB_DTYPES(WB_NAME)
#undef WB_NAME
    default:
      return "unknown";
  }
}

wb_slot slots[16];

}  // namespace

int main() {
  const Model model(model_start, static_cast<size_t>(model_end - model_start));
  if (!model.valid(slots)) {
    board_put("refused\n");
    return 1;
  }
  for (auto it = model.tensors().begin(); it != model.tensors().end(); ++it) {
    model.put_name(*it);
    board_put(" ");
    board_put(dtype_name((*it).dtype));
    board_put((*it).data != nullptr ? " in place\n" : " elsewhere\n");
  }
  return 0;
}
