// A recording: length-prefixed packets, gzip-compressed; base64 text when it sits inside the page.
import { DataError, decodePacket, type Frame, type Model, type Packet, type Quantised, readFrame, readModel, slotOf, undelta } from "./protocol";

export interface Track {
  model: Model;
  times: Float64Array;
  /** Frames stay quantised in memory and are unpacked when shown, in the slot given. */
  frame(index: number, slot: number): Frame;
}

export function bytesOfBase64(base64: string): Uint8Array {
  let binary: string;
  try {
    binary = atob(base64.replace(/\s+/g, ""));
  } catch {
    throw new DataError("the recording in this page is damaged: not base64 text");
  }
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

export async function gunzip(bytes: Uint8Array): Promise<Uint8Array> {
  if (typeof DecompressionStream === "undefined") throw new DataError("this browser cannot decompress recordings; a newer one can");
  try {
    const stream = new Blob([bytes as BlobPart]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  } catch {
    throw new DataError("the recording in this page is damaged: it cannot be decompressed");
  }
}

/** The packets of an uncompressed recording. */
export function splitPackets(bytes: Uint8Array): Packet[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const packets: Packet[] = [];
  for (let at = 0; at < bytes.length; ) {
    if (at + 4 > bytes.length) throw new DataError(`the recording ends inside a packet's length at byte ${at}`);
    const size = view.getUint32(at, true);
    if (at + 4 + size > bytes.length) throw new DataError(`the recording ends inside the packet at byte ${at}`);
    packets.push(decodePacket(bytes.subarray(at + 4, at + 4 + size)));
    at += 4 + size;
  }
  return packets;
}

export function readTracks(packets: Packet[]): Track[] {
  const models: (Model | undefined)[] = [];
  const frames: Packet[][] = [];
  const last: (Quantised | null)[] = [];
  for (const packet of packets) {
    const slot = slotOf(packet);
    if (packet.header["type"] === "model") {
      models[slot] = readModel(packet);
      frames[slot] = [];
      last[slot] = null;
    } else if (packet.header["type"] === "frame") {
      const model = models[slot];
      if (!model) throw new DataError("the recording has a frame before its model");
      last[slot] = undelta(packet, last[slot] ?? null);
      readFrame(packet, model); // what cannot be shown is reported now, not while playing
      frames[slot]!.push(packet);
    } else {
      throw new DataError(`the recording has a packet of unknown type ${JSON.stringify(packet.header["type"])}`);
    }
  }
  const tracks = models.flatMap((model, slot): Track[] => {
    const list = frames[slot]!;
    if (!model || list.length === 0) return [];
    const times = Float64Array.from(list, (packet) => Number(packet.header["time"] ?? 0));
    return [{ model, times, frame: (index, shownIn) => readFrame(list[index]!, model, { slot: shownIn, index }) }];
  });
  if (tracks.length === 0) throw new DataError("the recording holds no frames");
  return tracks;
}

export const openRecording = async (base64: string): Promise<Track[]> => readTracks(splitPackets(await gunzip(bytesOfBase64(base64))));
