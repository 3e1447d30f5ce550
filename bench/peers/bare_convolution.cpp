// Uses oneDNN's C++ interface as its examples do.
#include "bench/peers/bare_convolution.h"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <functional>
#include <oneapi/dnnl/dnnl.hpp>
#include <thread>
#include <unordered_map>
#include <utility>

#include "kernels/base/error.h"
#include "kernels/cpu/host/topology.h"
#include "kernels/cpu/ops/plans.h"
#include "kernels/cpu/runtime/engine.h"

namespace parbench::peers {
namespace {

using dnnl::memory;

dnnl::convolution_forward::primitive_desc plan(const ConvolutionForward& desc) {
  const auto tag =
      cpu::channel_block() == 16 ? memory::format_tag::nChw16c : memory::format_tag::nChw8c;
  const auto f32 = memory::data_type::f32;
  const memory::desc source(desc.shape.source(), f32, tag);
  const memory::desc weights(desc.shape.weights(), f32, memory::format_tag::any);
  const memory::desc bias({desc.shape.out_channels}, f32, memory::format_tag::a);
  const memory::desc destination(desc.shape.destination(), f32, tag);
  const memory::dims strides{desc.shape.stride, desc.shape.stride};
  const memory::dims padding{desc.shape.padding, desc.shape.padding};
  const auto kind = dnnl::prop_kind::forward_training;
  const auto algorithm = cpu::is_for_winograd(desc.shape, desc.dtype)
                             ? dnnl::algorithm::convolution_winograd
                             : dnnl::algorithm::convolution_direct;
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (desc.bias) {
    return dnnl::convolution_forward::primitive_desc(
        {kind, algorithm, source, weights, bias, destination, strides, padding, padding},
        attributes, cpu::engine());
  }
  return dnnl::convolution_forward::primitive_desc(
      {kind, algorithm, source, weights, destination, strides, padding, padding}, attributes,
      cpu::engine());
}

/// Runs a function in a new thread whose OpenMP team is bound like that of a stream. The team ends
/// with the thread, so it does not wake between samples.
void in_bound_thread(const std::vector<int>& cores, int threads,
                     const std::function<void()>& function) {
  std::exception_ptr failure;
  std::thread([&] {
    try {
      cpu::bind_this_thread(cores);
      cpu::bind_team(cores, threads);
      function();
    } catch (...) {
      failure = std::current_exception();
    }
  }).join();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

struct BareConvolution::Primitive {
  explicit Primitive(const ConvolutionForward& desc)
      : planned(plan(desc)),
        primitive(planned),
        scratchpad(planned.scratchpad_desc(), cpu::engine()),
        stream(cpu::engine()) {}

  dnnl::convolution_forward::primitive_desc planned;
  dnnl::convolution_forward primitive;
  memory scratchpad;
  dnnl::stream stream;
  std::unordered_map<int, memory> arguments;
};

// Plans in a thread with the same team, because oneDNN divides the work by the size of the team.
BareConvolution::BareConvolution(const ConvolutionForward& desc, std::vector<int> cores,
                                 int threads)
    : cores_(std::move(cores)), threads_(threads) {
  in_bound_thread(cores_, threads_, [&] { primitive_ = std::make_unique<Primitive>(desc); });
}

BareConvolution::~BareConvolution() = default;

std::string BareConvolution::implementation() const { return primitive_->planned.impl_info_str(); }

void BareConvolution::set_memory(std::span<const std::span<std::byte>> arguments) {
  const auto& planned = primitive_->planned;
  std::vector<std::pair<int, memory::desc>> wanted{{DNNL_ARG_SRC, planned.src_desc()},
                                                   {DNNL_ARG_WEIGHTS, planned.weights_desc()}};
  if (arguments.size() == 4) wanted.emplace_back(DNNL_ARG_BIAS, planned.bias_desc());
  wanted.emplace_back(DNNL_ARG_DST, planned.dst_desc());

  primitive_->arguments = {{DNNL_ARG_SCRATCHPAD, primitive_->scratchpad}};
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    const auto& [argument, desc] = wanted[i];
    if (desc.get_size() != arguments[i].size()) {
      throw Error(fmt::format("argument {} of the bare convolution has {} bytes, ours has {}", i,
                              desc.get_size(), arguments[i].size()));
    }
    primitive_->arguments.emplace(argument, memory(desc, cpu::engine(), arguments[i].data()));
  }
}

double BareConvolution::run(int executions) {
  double seconds = 0;
  in_bound_thread(cores_, threads_, [&] {
    const auto execute = [this] {
      primitive_->primitive.execute(primitive_->stream, primitive_->arguments);
    };
    execute();
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < executions; ++i) execute();
    primitive_->stream.wait();
    seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  });
  return seconds;
}

}  // namespace parbench::peers
