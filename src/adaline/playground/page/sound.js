// Sound: samples from the server, played by WebAudio.
import { bytes } from "./dom.js";

let context = null, playing = null;

export const possible = "AudioContext" in globalThis;

export function play(text, rate) {
  stop();
  context ??= new AudioContext();
  const raw = bytes(text), samples = new Int16Array(raw.buffer);
  const buffer = context.createBuffer(1, samples.length, rate), channel = buffer.getChannelData(0);
  for (let i = 0; i < samples.length; i++) channel[i] = samples[i] / 32768;
  playing = context.createBufferSource();
  playing.buffer = buffer;
  playing.connect(context.destination);
  playing.start();
}

export function stop() {
  try { playing?.stop(); } catch { /* it has ended */ }
  playing = null;
}
