// Builds plausible reports.
#include "tests/reports/sample.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace parbench::report {
namespace {

std::string case_name(const CaseResult& c) {
  std::string name = c.scenario + '/' + c.strategy;
  for (const auto& [key, value] : c.parameters) {
    name += '/' + key + ':';
    if (const auto* integer = std::get_if<std::int64_t>(&value)) name += std::to_string(*integer);
    if (const auto* text = std::get_if<std::string>(&value)) name += *text;
  }
  return name;
}

/// The statistics that the samples have.
Statistics statistics_of(const std::vector<Sample>& samples) {
  std::vector<double> seconds;
  for (const Sample& sample : samples) seconds.push_back(sample.seconds);
  std::sort(seconds.begin(), seconds.end());
  Statistics s;
  s.median = seconds[seconds.size() / 2];
  s.min = seconds.front();
  s.max = seconds.back();
  for (const double value : seconds) s.mean += value / static_cast<double>(seconds.size());
  double squares = 0;
  for (const double value : seconds) squares += (value - s.mean) * (value - s.mean);
  s.standard_deviation =
      seconds.size() > 1 ? std::sqrt(squares / static_cast<double>(seconds.size() - 1)) : 0;
  s.median_absolute_deviation = s.standard_deviation * 0.67;
  if (seconds.size() > 1)
    s.median_interval = Interval{seconds[1], seconds[seconds.size() - 2], .96};
  return s;
}

CaseResult pipeline_case(const std::string& strategy, NamedValues extra, double median,
                         double efficiency, std::vector<DeviceMemory> memory) {
  NamedValues parameters{
      {"model", "resnet50"}, {"batch", std::int64_t{48}}, {"image", std::int64_t{128}}};
  for (auto& value : extra) parameters.push_back(std::move(value));
  CaseResult c = measured_case("pipeline", strategy, std::move(parameters), median, 14);
  c.amount = 48;
  c.amount_unit = "images";
  c.throughput = 48 / median;
  c.flops = 3.9e11;
  c.bytes = 2.4e10;
  c.bound = Bound{.seconds = median * efficiency,
                  .critical_path = median * 0.7,
                  .busiest_lane = median * efficiency * 0.98,
                  .busiest_lane_name = "cpu:1/compute",
                  .busiest_device = median * 0.6,
                  .one_machine = median * efficiency};
  c.efficiency = efficiency;
  c.memory = std::move(memory);
  c.verification = Verification{"pipeline/single/model:resnet50/batch:48/image:128", true, 0.02,
                                "loss and 161 gradients"};
  c.kernels = {{"convolution_forward", "jit:avx512_core", 53},
               {"linear_forward", "gemm:jit", 1, "heuristics"}};
  c.notes = {{"partition", "after layer3.1"}, {"layer costs", "measured, see \"bound\""}};
  return c;
}

CaseResult without_number(CaseResult c, CaseStatus status, std::string error) {
  c.status = status;
  c.error = std::move(error);
  c.stopped_because.clear();
  c.samples.clear();
  c.statistics.reset();
  c.speedup.reset();
  c.bound.reset();
  c.memory.clear();
  return c;
}

Machine sample_machine() {
  Machine machine;
  machine.host = "bench-1";
  machine.cpu_model = "Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz";
  machine.cores_online = 2;
  machine.cores_allowed = {0, 1};
  machine.cpu_quota = 1.5;
  machine.memory_bytes = 33'554'432'000;
  machine.cpu_mhz = 2700.5;
  machine.governor = "performance";
  machine.caches = {{"Data", 1, 32768, 1}, {"Unified", 2, 1048576, 1}};
  machine.load_average = {0.5, 0.25, 0.125};
  machine.operating_system = "Debian GNU/Linux 12 (bookworm)";
  machine.kernel = "6.1.0-18-amd64";
  machine.compiler = "GCC 12.2.0";
  machine.build_type = "Release";
  machine.libraries = {{"oneDNN", "2.6.3"}, {"hwloc", "2.9.0"}};
  machine.environment = {{"GOMP_SPINCOUNT", "1000"}, {"OMP_WAIT_POLICY", "active"}};
  machine.commit = "0123456789abcdef0123456789abcdef01234567";
  machine.dirty = true;
  machine.commit_subject = "Overlap copies";
  machine.commit_author = "A. Author";
  return machine;
}

std::vector<CaseResult> sample_cases() {
  const std::size_t mib = 1024UL * 1024UL;
  const auto both = [&](std::size_t first, std::size_t second) {
    return std::vector<DeviceMemory>{{"cpu:0", first * mib}, {"cpu:1", second * mib}};
  };
  std::vector<CaseResult> cases;
  cases.push_back(pipeline_case("single", {}, 1.083, 0.98, {{"cpu:0", 2214 * mib}}));
  cases.push_back(pipeline_case("model-parallel", {}, 1.121, 0.97, both(1389, 986)));
  const std::vector<std::pair<std::int64_t, double>> splits{
      {1, 1.034}, {3, 0.7421}, {5, 0.6337}, {12, 0.6514}, {20, 0.7803}};
  for (const auto& [split, median] : splits) {
    cases.push_back(pipeline_case("pipeline", {{"split", split}}, median, 0.8 / (median + 0.22),
                                  both(1389, 986)));
  }
  const std::string baseline = cases.front().name;
  for (CaseResult& c : cases) {
    const double value = 1.083 / c.statistics->median;
    c.speedup = Ratio{value, Interval{value * 0.989, value * 1.012, 0.95}, baseline};
  }
  cases.front().speedup.reset();
  cases[3].stopped_because = "max-time";
  cases[4].hidden_parameters = {{"slowdown", 0.5}};
  cases[4].submit = SubmitMode::graph;
  cases[5].samples[3].rank_waits = {0.001, 0.002};
  cases[5].samples[3].start_skew = 5e-6;
  cases[5].samples[3].quota_lost = 0.1;
  cases[5].quota_lost = 0.0075;
  cases[5].samples[3].conditions = {{"cpu:0", 2600, 71, 180.5, {}, ThreadUse{0.01, 0.02, 30}},
                                    {"cpu:1", 1900, 88, 140, {"core temperature", "low clock"}}};
  for (std::size_t i = 7; i < 14; ++i) cases[5].samples[i].process = 1;
  cases[5].samples[2].counters = {{"CYCLES", 3e9}};
  cases[5].conditions = {{"cpu:0", 2600, 2600, 71, 180.5, ThreadUse{0.01, 0.02, 30}},
                         {"cpu:1", 1900, 1900, 88, 140}};
  cases[5].throttling =
      Throttling{1, 14, false, {{"cpu:1", "core temperature", 1}, {"cpu:1", "low clock", 1}}};
  cases.push_back(without_number(
      pipeline_case("pipeline", {{"split", "8+20+20"}}, 1, 1, {}), CaseStatus::failed,
      "gradient of layer4.0.conv2.weight differs from the reference: 0.0131 at [3, 17, 0, 2], "
      "expected 0.0127 (37 times the tolerance); the times of a wrong result are meaningless"));
  cases.back().verification->passed = false;
  for (const std::int64_t split : {40, 60}) {
    cases.push_back(without_number(pipeline_case("pipeline", {{"split", split}}, 1, 1, {}),
                                   CaseStatus::skipped,
                                   "out of memory on cpu:0: 41.2 GiB asked, 27.9 GiB available"));
  }
  return cases;
}

}  // namespace

CaseResult measured_case(const std::string& scenario, const std::string& strategy,
                         NamedValues parameters, double median_seconds, int samples) {
  CaseResult c;
  c.scenario = scenario;
  c.strategy = strategy;
  c.parameters = std::move(parameters);
  c.name = case_name(c);
  c.dtype = "f32";
  c.status = CaseStatus::measured;
  c.stopped_because = "precision";
  for (int i = 0; i < samples; ++i) {
    const double seconds = median_seconds * (1 + 0.001 * (i - std::floor(samples / 2.0)));
    c.samples.push_back({seconds, seconds * 1.01, 2, i});
    c.samples.back().cpu_seconds = seconds * 1.5;
  }
  c.statistics = statistics_of(c.samples);
  return c;
}

/// The case with the largest speedup.
Recommendation sample_recommendation(const std::vector<CaseResult>& cases) {
  const CaseResult* best = nullptr;
  for (const CaseResult& c : cases) {
    if (c.speedup && (best == nullptr || c.speedup->value > best->speedup->value)) best = &c;
  }
  return {.candidates = {{"split 5", best->name}, {"split 3", "pipeline/3"}},
          .tied = {{"split 3", "pipeline/3"}},
          .pays = true,
          .gaining = LabelledCase{"split 5", best->name},
          .gain = best->speedup};
}

Report sample_report() {
  Report report;
  report.version = "0.1.0";
  report.started_utc = "2024-05-04T10:20:30Z";
  report.duration_seconds = 141.2;
  report.sampling_seconds = 128.9;
  report.task_cost_seconds = 4.1;
  report.complete = true;
  report.command_line = {"parbench", "--scenario", "pipeline", "--split", "1,3,5,12,20,8+20+20"};
  report.labels = {{"branch", "main"}, {"runner", "two cores"}};
  report.options = {{"preset", "quick"}, {"precision_percent", 1.0}, {"seed", std::int64_t{1}}};
  report.processes = {{"2024-05-04T10:20:30Z", 70.5, 0, {}},
                      {"2024-05-04T10:21:41Z", 70.1, 139, "was ended by signal 11"}};
  report.machine = sample_machine();
  report.devices = {
      {"pipeline", "cpu:0", "cpu", report.machine.cpu_model, {0}, {1}, 33'554'432'000, {}},
      {"pipeline",
       "cpu:1",
       "cpu",
       report.machine.cpu_model,
       {1},
       {0},
       33'554'432'000,
       {{"NUMA node", "1"}},
       {{"gemm f32", 1.41e11, "FLOP/s", Interval{1.4e11, 1.42e11, 0.96}, "2024-05-03T08:00:00Z"},
        {"memory", 2.1e10, "B/s", {}, "2024-05-03T08:00:02Z"}}}};
  report.roles = {{"pipeline", "split", Role::micro_batch_size, ""},
                  {"pipeline", "partition", Role::partition, "balanced"}};
  report.links = {{"pipeline", "cpu:0", "cpu:1", "shared memory, different NUMA nodes"}};
  report.sampling = {{"pipeline", 0.01, 6, 20.0, 140.0, 12, 3, 0.02}};
  report.cases = sample_cases();
  report.answers = {
      {.scenario = "pipeline",
       .question = "What does it gain to partition a model over several devices, and in how many "
                   "pieces should a batch be fed to it?",
       .text = "best split 5: 1.71× (1.69–1.73) the single device, 94% of what this partition "
               "allows; cpu:1 is busy for 94% of the step and holds the rest back",
       .warnings = {"Preliminary, from 3 of 6 samples."},
       .preliminary = true,
       .recommendations = {sample_recommendation(report.cases)}}};
  report.published = {
      {"pipeline", "pipeline", {{"split", std::int64_t{12}}}, "a write-up", 2.43, 3}};
  return report;
}

namespace {

/// Every field differs from its default somewhere.
Timeline sample_timeline() {
  Timeline timeline;
  PlanGraph& graph = timeline.graph;
  graph.submit = SubmitMode::thread_per_lane;
  graph.add_lane({.name = "cpu:0/compute", .device = "cpu:0", .threads = 2, .device_cores = 2});
  graph.add_lane({.name = "cpu:0/copy", .device = "cpu:0", .kind = StreamKind::copy});
  graph.add_task({.name = "send", .kind = TaskKind::copy, .lanes = {1}, .work = {0, 8e6, 0.01}});
  graph.add_task({.name = "forward",
                  .lanes = {0},
                  .after = {0},
                  .cost_key = "forward 3",
                  .phase = "forward",
                  .micro_batch = 1});
  graph.tasks.front().sent = 4e6;
  timeline.begin = 1'000;
  timeline.end = 400'000'000;
  timeline.clock_error = 1'000;
  timeline.calls = {{.task = 0, .lane = 1, .name = {}, .enqueued = {5, 7}, .ran = {1'000, 2'000}},
                    {.task = 1,
                     .lane = 0,
                     .name = "gemm",
                     .enqueued = {10, 50'000},
                     .ran = {100'000'000, 400'000'000},
                     .work = {.flops = 4e9, .bytes = 8e6},
                     .layer = "layer1.0.conv1",
                     .tensors = "a 3x4, b 4x5, c 3x5",
                     .kernel = "ref:any",
                     .reference = true,
                     .team_waiting = 1'000}};
  return timeline;
}

}  // namespace

Report with_profiles(Report report) {
  Profile profile;
  profile.executions = 3;
  profile.median = 0.5;
  profile.seconds_per_call = 5e-8;
  profile.deviation = -0.25;
  TimelineMetrics& metrics = profile.metrics;
  metrics.span = 0.51;
  metrics.clock_error = 1e-6;
  metrics.devices.push_back({.device = "cpu:0",
                             .busy = 0.4,
                             .idle = 0.11,
                             .bubble = 0.05,
                             .waits = {0.01, 0.02, 0.03},
                             .compute = 0.3,
                             .copy = 0.1,
                             .communication = 0.04,
                             .exposed_copy = 0.08,
                             .exposed_communication = 0.03,
                             .overlapped = 0.02});
  metrics.bubble_ratio = {0.21, 0.27};
  metrics.streams_busy = {0.11, 0.3, 0.1};
  metrics.lanes.push_back({"cpu:0/compute", "cpu:0", {0.04, 0.05, 0.06}});
  metrics.critical_path = {0.3, 0.1, 0.04, 0.05, 0.02};
  metrics.bus_bandwidth = 1e8;
  metrics.calls.push_back({.name = "gemm",
                           .kind = TaskKind::compute,
                           .layer = "layer1.0.conv1",
                           .tensors = "a 3x4, b 4x5, c 3x5",
                           .kernel = "ref:any",
                           .reference = true,
                           .count = 2,
                           .seconds = 0.3,
                           .enqueueing = 1e-6,
                           .team_waiting = 0.01,
                           .flops = 4e9,
                           .bytes = 8e6});
  profile.timeline = sample_timeline();
  profile.losses = Losses{0.4, 0.01, 0.02, 0.03, 0.04, 0.05};
  CaseResult& one = report.cases.at(1);
  one.profile = profile;
  report.findings.push_back({one.scenario,
                             "losses",
                             {one.name},
                             "24% of its time is lost",
                             "smaller micro-batches",
                             {{"share", 0.24}}});
  return report;
}

}  // namespace parbench::report
