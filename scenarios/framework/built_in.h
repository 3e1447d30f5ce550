// parbench's own scenarios.
#pragma once

#include <memory>

#include "scenarios/framework/scenario.h"

namespace parbench {

[[nodiscard]] std::unique_ptr<Scenario> make_branch();
[[nodiscard]] std::unique_ptr<Scenario> make_launch();
[[nodiscard]] std::unique_ptr<Scenario> make_matmul();
[[nodiscard]] std::unique_ptr<Scenario> make_overlap();
[[nodiscard]] std::unique_ptr<Scenario> make_pipeline();
[[nodiscard]] std::unique_ptr<Scenario> make_data_parallel();
[[nodiscard]] std::unique_ptr<Scenario> make_tensor_parallel();
[[nodiscard]] std::unique_ptr<Scenario> make_hybrid();
[[nodiscard]] std::unique_ptr<Scenario> make_inter_op();
[[nodiscard]] std::unique_ptr<Scenario> make_graph();
[[nodiscard]] std::unique_ptr<Scenario> make_collectives();
[[nodiscard]] std::unique_ptr<Scenario> make_selftest();

}  // namespace parbench
