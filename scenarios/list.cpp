// The built-in scenarios, in the order in which they are listed and run.
#include "scenarios/branch/branch.h"
#include "scenarios/collectives/collectives.h"
#include "scenarios/copies/copies.h"
#include "scenarios/data_parallel/data_parallel.h"
#include "scenarios/framework/scenario.h"
#include "scenarios/graph/graph.h"
#include "scenarios/hybrid/hybrid.h"
#include "scenarios/inter_op/inter_op.h"
#include "scenarios/matmul/matmul.h"
#include "scenarios/overlap/overlap.h"
#include "scenarios/pipeline/pipeline.h"
#include "scenarios/selftest/selftest.h"
#include "scenarios/tensor_parallel/tensor_parallel.h"

namespace parbench {

ScenarioList built_in_scenarios() {
  ScenarioList list;
  list.push_back(make_branch());
  list.push_back(make_matmul());
  list.push_back(make_overlap());
  list.push_back(make_pipeline());
  list.push_back(make_data_parallel());
  list.push_back(make_tensor_parallel());
  list.push_back(make_hybrid());
  list.push_back(make_inter_op());
  list.push_back(make_graph());
  list.push_back(make_collectives());
  list.push_back(make_copies());
  list.push_back(make_selftest());
  return list;
}

}  // namespace parbench
