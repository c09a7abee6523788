// The WebSocket to the program: commands out, packets and texts in. It never retries by itself; the user decides.
import { DataError, decodePacket, type Packet } from "./protocol";

export interface Events {
  onOpen(): void;
  onPacket(packet: Packet): void;
  onText(message: { type: string } & Record<string, unknown>): void;
  /** Something arrived that cannot be understood, or the program refused a command. */
  onProblem(message: string): void;
  onClose(reason: string): void;
}

export type Command = { type: string } & Record<string, unknown>;

export class Connection {
  private socket: WebSocket | null = null;
  private nextId = 1;
  private readonly waiting = new Map<number, { command: Command; answered: ((answer: Record<string, unknown>) => void) | undefined }>();

  constructor(private readonly url: string, private readonly events: Events) {}

  /** ws://HOST/ws with the token of the page's own address. */
  static address(page: Location): string {
    const token = new URLSearchParams(page.search).get("token") ?? "";
    return `${page.protocol === "https:" ? "wss" : "ws"}://${page.host}/ws?token=${encodeURIComponent(token)}`;
  }

  get open(): boolean {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  connect(): void {
    this.waiting.clear();
    let opened = false;
    const socket = new WebSocket(this.url);
    this.socket = socket;
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      opened = true;
      this.events.onOpen();
    };
    socket.onmessage = (event) => this.receive(event.data as ArrayBuffer | string);
    socket.onclose = (event) => {
      if (this.socket !== socket) return;
      this.events.onClose(event.reason || (opened ? "the program has ended or closed the connection" : "nothing answers there, or the token of this address is not valid"));
    };
  }

  /** Sends without expecting an answer: for what repeats itself (ready, drag). */
  tell(command: Command): void {
    if (this.open) this.socket!.send(JSON.stringify(command));
  }

  /** Sends with an id, so that a refusal comes back and is shown; `answered` gets what comes back otherwise. */
  ask(command: Command, answered?: (answer: Record<string, unknown>) => void): void {
    if (!this.open) return this.events.onProblem(`not connected: ${command.type} was not sent`);
    const id = this.nextId++;
    this.waiting.set(id, { command, answered });
    this.socket!.send(JSON.stringify({ ...command, id }));
  }

  private receive(data: ArrayBuffer | string): void {
    try {
      if (typeof data !== "string") return this.events.onPacket(decodePacket(new Uint8Array(data)));
      const message = JSON.parse(data) as unknown;
      if (typeof message !== "object" || message === null || typeof (message as { type?: unknown }).type !== "string") throw new DataError("text without a type");
      this.dispatch(message as { type: string } & Record<string, unknown>);
    } catch (error) {
      if (!(error instanceof DataError) && !(error instanceof SyntaxError)) throw error;
      this.events.onProblem(`The program sent data that this page cannot read: ${error.message}`);
    }
  }

  private dispatch(message: { type: string } & Record<string, unknown>): void {
    const id = typeof message["id"] === "number" ? message["id"] : null;
    const asked = id === null ? undefined : this.waiting.get(id), command = asked?.command;
    if (id !== null) this.waiting.delete(id);
    if (message.type === "ack") return asked?.answered?.(message);
    if (message.type === "error") {
      const said = String(message["message"] ?? "no reason given");
      return this.events.onProblem(command ? `${command.type}: ${said}` : said);
    }
    this.events.onText(message);
  }
}
