#pragma once
// The keys of /job of a scenario.

#include "document/fields/members.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::study::keys {

using namespace io::rows;

inline constexpr std::array kJobRows{
    of<&Job::samples>(integer("Samples to train on, those of all epochs together.",
                              io::between(1, io::kMostExact))
                          .example("1.2e8")),
    of<&Job::tokens>(
        integer("Tokens to train on, in place of samples.", io::between(1, io::kMostExact))
            .example("3e11")),
    of<&Job::tokens_per_sample>(
        integer("Tokens of a sample. The default is the sequence length of the model.",
                io::between(1, io::kMostExact))
            .example("4096")
            .because("sequence length of the model")),
    of<&Job::price_per_gpu_hour>(number("Price of a GPU, USD per hour. The default is the list "
                                        "price of the node type, where its file has one.",
                                        io::at_least(0))
                                     .plain()
                                     .example("2.5")),
    of<&Job::node_mtbf_s>(number("Mean time between failures of one machine, s. Any machine that "
                                 "fails stops the training.",
                                 io::at_least(1))
                              .example("1.8e8")),
    of<&Job::checkpoint_s>(
        number("Time for which a checkpoint stops the training, s.", io::above(0)).example("30")),
    of<&Job::restart_s>(
        number("Time from a failure until the training goes on from its last checkpoint, s.",
               io::at_least(0))
            .example("600"))};
inline constexpr auto kJob = io::keys_of(kJobRows);

} // namespace stepsim::study::keys
