// Random noise as processes have it.
#pragma once

#include <cmath>
#include <random>

namespace parbench::compare {

enum class Tails { normal, heavy };

/// Draws of mean 0 and standard deviation 1, from a fixed seed: normal, or Student's t with three
/// degrees of freedom, whose outliers are frequent.
class Noise {
 public:
  explicit Noise(Tails tails, unsigned seed = 1) : tails_(tails), random_(seed) {}

  double operator()() {
    if (tails_ == Tails::normal) return normal_(random_);
    return heavy_(random_) / std::sqrt(3.0);  // the variance of t with ν is ν / (ν − 2)
  }

 private:
  Tails tails_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::student_t_distribution<double> heavy_{3.0};
};

}  // namespace parbench::compare
