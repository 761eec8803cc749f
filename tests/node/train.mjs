// Trains ten steps with a step that was exported to ONNX, and prints the losses as JSON.
//
//     node train.mjs FOLDER batch.json
//
// FOLDER/start.onnx gives parameters, optimizer state and scalars; FOLDER/step.onnx is the step.
// An output "new/" and a name is the next value of the input of this name.

import { readFileSync } from "node:fs";
import { InferenceSession, Tensor } from "onnxruntime-node";

const [folder, batchPath] = process.argv.slice(2);
const start = await InferenceSession.create(`${folder}/start.onnx`);
const session = await InferenceSession.create(`${folder}/step.onnx`);

const feeds = await start.run({});
const kinds = { float32: Float32Array, int32: Int32Array };
for (const [name, array] of Object.entries(JSON.parse(readFileSync(batchPath, "utf8")))) {
  feeds[name] = new Tensor(array.dtype, kinds[array.dtype].from(array.values), array.shape);
}

const losses = [];
for (let step = 1; step <= 10; step++) {
  if (session.inputNames.includes("step")) {
    feeds.step = new Tensor("float32", Float32Array.of(step), []);
  }
  const results = await session.run(feeds);
  losses.push(results.loss.data[0]);
  for (const [output, value] of Object.entries(results)) {
    if (output.startsWith("new/")) {
      feeds[output.slice(4)] = value;
    }
  }
}
console.log(JSON.stringify(losses));
