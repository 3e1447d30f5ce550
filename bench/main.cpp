// The executable, with the built-in scenarios.
#include "bench/program.h"
#include "kernels/machine/machine.h"
#include "scenarios/framework/scenario.h"

int main(int count, char** words) {
  parbench::prepare_process(words);
  return parbench::run_program({words, words + count}, parbench::built_in_scenarios());
}
