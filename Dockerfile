# Osier on Debian 12. Build: docker build -t osier .   Run: docker run --rm -v "$PWD":/data osier run scene.json -o out
FROM debian:12-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends cmake ninja-build g++ dpkg-dev file libboost-dev libcli11-dev \
      libeigen3-dev libembree-dev libfmt-dev libhdf5-dev libmuparser-dev libspectra-dev libstb-dev nlohmann-json3-dev nodejs npm \
      zlib1g-dev python3 && rm -rf /var/lib/apt/lists/*
COPY . /osier
RUN cmake -S /osier -B /build -G Ninja -DCMAKE_BUILD_TYPE=Release -DOSIER_TESTS=OFF -DOSIER_BENCH=OFF \
    && cmake --build /build && cmake --build /build --target package

FROM debian:12-slim
COPY --from=build /build/osier_*.deb /tmp/
RUN apt-get update && apt-get install -y --no-install-recommends /tmp/osier_*.deb && rm -rf /tmp/osier_*.deb /var/lib/apt/lists/*
WORKDIR /data
ENTRYPOINT ["osier"]
CMD ["--help"]
