// The executable: all scenarios.
#include "bench/program.h"
#include "scenarios/scenario.h"

int main(int count, char** words) {
  return parbench::run_program({words, words + count}, parbench::all_scenarios());
}
