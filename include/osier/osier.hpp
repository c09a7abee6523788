// The whole public API.
#pragma once

#include "osier/curves.hpp"
#include "osier/error.hpp"
#include "osier/frame.hpp"
#include "osier/io.hpp"
#include "osier/model.hpp"
#include "osier/scene.hpp"
#include "osier/simulation.hpp"
#include "osier/state.hpp"
#include "osier/trajectory.hpp"
#include "osier/types.hpp"
