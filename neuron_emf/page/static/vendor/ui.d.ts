export { h, render, Fragment, createContext } from "preact";
export * from "preact/hooks";
export { signal, computed, effect, batch, untracked, useSignal, useComputed, useSignalEffect, type Signal } from "@preact/signals";
import { h } from "preact";

export declare const html: (strings: TemplateStringsArray, ...values: any[]) => ReturnType<typeof h>;
