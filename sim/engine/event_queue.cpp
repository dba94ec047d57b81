#include "engine/event_queue.hpp"
#include "engine/timeline.hpp"

namespace stepsim::engine {

template class EventQueue<double>;       // continuous models: seconds
template class EventQueue<std::int64_t>; // packet model: picoseconds

} // namespace stepsim::engine
