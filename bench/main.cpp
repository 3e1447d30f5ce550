// The executable: this machine and all scenarios.
#include "bench/program.h"
#include "kernels/machine.h"
#include "scenarios/scenario.h"

int main(int count, char** words) {
  const parbench::Machine machine;
  return parbench::run_program({words, words + count}, parbench::all_scenarios(), machine);
}
