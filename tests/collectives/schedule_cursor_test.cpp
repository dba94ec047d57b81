// Cursors that move inside a ring by the difference of two steps come to the same operations as
// cursors that look for them step by step.
#include "collectives/schedule/schedule_cursor.hpp"

#include <doctest/doctest.h>

#include <tuple>

#include "collectives/algorithms.hpp"
#include "collectives/nodes.hpp"
#include "collectives/point.hpp"

namespace stepsim::collectives {
namespace {

auto place_of(const Cursor& cursor) {
  return std::tuple(cursor.position, cursor.phase, cursor.group, cursor.local, cursor.step);
}
auto all_of(const NextSend& send) {
  return std::tuple(place_of(send), send.src, send.dst, send.needs, send.reduce, send.follow_up,
                    send.bytes, send.stream, send.block);
}
auto all_of(const NextReception& reception) {
  return std::tuple(place_of(reception), reception.src, reception.dst, reception.stream);
}

template <class Next> void compare(const Schedule& schedule) {
  const ScheduleWalk shorter(schedule);
  const ScheduleWalk plain(schedule, false);
  for (std::uint32_t port = 0; port < schedule.ports(); ++port) {
    Next left;
    Next right;
    do {
      shorter.advance(port, left);
      plain.advance(port, right);
      REQUIRE(all_of(left) == all_of(right));
    } while (left.position != kEndOfSchedule);
  }
}

} // namespace

TEST_CASE("schedule cursors: with and without shortcuts the operations are equal") {
  for (const Op op : {Op::allreduce, Op::reduce_scatter, Op::allgather, Op::broadcast}) {
    for (const AlgorithmId id : valid_algorithms(op)) {
      if (id == AlgorithmId::parameter_server || test::in_switch(id)) {
        continue;
      }
      for (const test::Shape shape : {test::Shape{1, 2, 1}, {2, 4, 1}, {4, 4, 2}, {4, 4, 4}}) {
        for (const double bytes : {1.0, 999.0, 1e6 + 1}) {
          CAPTURE(algorithm(id).name);
          CAPTURE(shape.nodes);
          CAPTURE(shape.cards);
          CAPTURE(bytes);
          Collective collective = is_two_level(id)
                                      ? test::on_nodes(op, id, shape, bytes)
                                      : test::point(op, id, shape.ranks(), bytes, {1e-6, 1e-9, 0});
          collective.options.chunking = Chunking::integer;
          collective.options.block = Bytes{100'000};
          const Schedule schedule = make_schedule(collective);
          compare<NextSend>(schedule);
          compare<NextReception>(schedule);
        }
      }
    }
  }
}

} // namespace stepsim::collectives
