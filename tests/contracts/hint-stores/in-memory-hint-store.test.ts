import { InMemoryHintStore } from "../../../src/infrastructure/persistence/memory/in-memory-hint-store";
import { describeHintStore } from "./hint-store-contract";

describeHintStore("InMemoryHintStore", async () => ({
  store: new InMemoryHintStore(),
  close: async () => {},
}));
