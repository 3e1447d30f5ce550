// The built-in scenarios, in the order in which they are listed and run.
#include "scenarios/framework/built_in.h"

namespace parbench {

ScenarioList built_in_scenarios() {
  ScenarioList list;
  list.push_back(make_branch());
  list.push_back(make_launch());
  list.push_back(make_matmul());
  list.push_back(make_overlap());
  list.push_back(make_pipeline());
  list.push_back(make_data_parallel());
  list.push_back(make_tensor_parallel());
  list.push_back(make_hybrid());
  list.push_back(make_inter_op());
  list.push_back(make_graph());
  list.push_back(make_collectives());
  list.push_back(make_selftest());
  return list;
}

}  // namespace parbench
