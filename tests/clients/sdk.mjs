// The AWS SDK for JavaScript v3, told on standard input what to call: one JSON object a line, one answer a line.
// argv: the folder whose node_modules has the SDK, and the endpoint.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const [, , home, endpoint] = process.argv;
const sdk = createRequire(`${home}/`)("@aws-sdk/client-sagemaker");
const client = new sdk.SageMakerClient({
  endpoint,
  region: "us-west-2",
  credentials: { accessKeyId: "111122223333", secretAccessKey: "test" },
  maxAttempts: 1,
});

async function call({ operation, input }) {
  const { $metadata, ...output } = await client.send(new sdk[`${operation}Command`](input));
  return { output, requestId: $metadata.requestId };
}

async function pages({ operation, input, size }) {
  const found = [];
  for await (const { $metadata, NextToken, ...page } of sdk[`paginate${operation}`]({ client, pageSize: size }, input)) {
    found.push(Object.values(page)[0]);
  }
  return { output: found };
}

for await (const line of createInterface({ input: process.stdin })) {
  const told = JSON.parse(line);
  let answer;
  try {
    answer = await (told.size ? pages(told) : call(told));
  } catch (error) {
    answer = { error: { code: error.name, message: error.message, status: error.$metadata?.httpStatusCode } };
  }
  console.log(JSON.stringify(answer));
}
