// A program with Google Benchmark that is not parbench, as its users have them. Its times are given
// and not measured, so that tests know them: $NANOSECONDS per item, a permille more with each
// repetition.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <string>

namespace {

double nanoseconds_per_item() {
  const char* const text = std::getenv("NANOSECONDS");
  return text == nullptr ? 100 : std::strtod(text, nullptr);
}

void sum(benchmark::State& state) {
  static std::map<long, int> repetitions;
  const auto items = state.range(0);
  const double drift = 1 + 0.001 * repetitions[items]++;
  for (auto _ : state) {
    state.SetIterationTime(1e-9 * nanoseconds_per_item() * static_cast<double>(items) * drift);
  }
  state.SetItemsProcessed(state.iterations() * items);
  state.counters["unknown"] = std::nan("");
}
BENCHMARK(sum)->ArgName("n")->Arg(1000)->Arg(2000)->Iterations(1)->UseManualTime();

void fragile(benchmark::State& state) {
  for (auto _ : state) state.SetIterationTime(1e-3);
  if (std::getenv("BROKEN") != nullptr) state.SkipWithError("planted");
}
BENCHMARK(fragile)->Iterations(1)->UseManualTime()->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
