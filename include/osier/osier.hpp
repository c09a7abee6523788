// The whole public API but parameter studies, which are in osier/sweep.hpp.
#pragma once

#include "osier/curves.hpp"
#include "osier/error.hpp"
#include "osier/frame.hpp"
#include "osier/io.hpp"
#include "osier/model.hpp"
#include "osier/model_builder.hpp"
#include "osier/pose.hpp"
#include "osier/recording.hpp"
#include "osier/scene.hpp"
#include "osier/simulation.hpp"
#include "osier/state.hpp"
#include "osier/trajectory.hpp"
#include "osier/types.hpp"
