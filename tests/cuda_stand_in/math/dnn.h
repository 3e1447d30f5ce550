// cuDNN's handle and tensor descriptor in the stand-in.
#pragma once

#include <cudnn.h>

#include <array>

#include "tests/cuda_stand_in/objects.h"

struct cudnnContext : parbench::stand_in::Object {
  explicit cudnnContext(int ordinal) : Object("cuDNN handle"), device(ordinal) {}
  int device;
  cudaStream_t stream = nullptr;
};

struct cudnnTensorStruct : parbench::stand_in::Object {
  cudnnTensorStruct() : Object("cuDNN tensor") {}
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  std::array<int, 4> extents{};  // N, C, H, W with channels last; zeros: other dimensions
};
