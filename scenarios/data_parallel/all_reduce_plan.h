// Gradients that are all-reduced, so that every device updates parameters of its own.
#pragma once

#include <cstddef>

#include "scenarios/data_parallel/replicas.h"

namespace parbench {

/// Adds a step in which one all-reduce follows the backward passes; its additions run where the
/// devices compute, which have nothing else to do then.
void plan_all_reduce(DataParallelParts& parts);

/// Adds a step in which gradients are all-reduced in buckets from the last layer back, each as soon
/// as the backward passes are done with it. Additions run on the copy lanes, beside the rest of the
/// backward passes.
void plan_bucketed_all_reduce(DataParallelParts& parts, std::size_t bucket_bytes);

}  // namespace parbench
