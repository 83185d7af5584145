import { HistoryRecorder } from "./history-recorder";

// A client in a process of its own: one request that is answered, one that is not, and then it waits to be killed.
const [, , name = "", file = ""] = process.argv;
const recorder = new HistoryRecorder(name, file);
const request = { method: "POST", path: "/payments", key: name, body: null };
recorder.begin(request)({ status: 201, body: { payment: { id: name } } });
recorder.begin({ ...request, key: `${name} again` });
process.stdout.write("recorded\n");
setInterval(() => {}, 1_000);
