// What nvcc knows without an include, for the project's .cu files: included before all else in
// them.
#pragma once

#include <cuda_runtime_api.h>
#include <vector_functions.h>

#include "tests/cuda_emulation/include/device_functions.h"
