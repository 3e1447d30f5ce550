// cuDNN's handle in the stand-in.
#pragma once

#include <cudnn.h>

#include "tests/cuda_stand_in/objects.h"

struct cudnnContext : parbench::stand_in::Object {
  explicit cudnnContext(int ordinal) : Object("cuDNN handle"), device(ordinal) {}
  int device;
  cudaStream_t stream = nullptr;
};
