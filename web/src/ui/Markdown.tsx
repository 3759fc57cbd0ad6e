// Markdown of agents and repositories as elements. It is read into tokens and each token becomes an element; raw HTML
// stays text, links leave only to http(s) and mailto, and images are shown as links, so nothing that an agent wrote
// can run, load or restyle anything.

import { marked, type Token, type Tokens } from "marked";
import { Fragment, memo, type ReactNode } from "react";
import { copy } from "../app/copy";
import { Button } from "./Button";
import styles from "./Markdown.module.css";

/** Most of what agents say in passing has nothing to read in it: one line without a sign that means something. */
const PLAIN = /^(?!.*www\.|[-+=]|\d+[.)]| {4})[^\n*_`#[\]<>|~\\&@:]*$/;

export const Markdown = memo(function Markdown({ text }: { text: string }) {
  if (PLAIN.test(text))
    return (
      <div className={styles.markdown}>
        <p>{text}</p>
      </div>
    );
  return <div className={styles.markdown}>{blocks(marked.lexer(text, { gfm: true }))}</div>;
});

const blocks = (tokens: readonly Token[]): ReactNode[] =>
  tokens.map((token, index) => <Fragment key={index}>{block(token)}</Fragment>);

function block(token: Token): ReactNode {
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "heading": {
      const depth = Math.min(6, (token as Tokens.Heading).depth + 2);
      return (
        <p
          role="heading"
          aria-level={depth}
          className={styles.heading}
          data-depth={(token as Tokens.Heading).depth}
        >
          {inline(token.tokens)}
        </p>
      );
    }
    case "paragraph":
      return <p>{inline(token.tokens)}</p>;
    case "code":
      return (
        <div className={styles.block}>
          <pre className={styles.code} data-language={(token as Tokens.Code).lang || undefined}>
            <code>{token.text}</code>
          </pre>
          <Button
            className={styles.copy}
            kind="quiet"
            size="small"
            icon="copy"
            label="Copy code"
            onClick={() => void copy(token.text, "The code")}
          />
        </div>
      );
    case "blockquote":
      return <blockquote>{blocks(token.tokens ?? [])}</blockquote>;
    case "list": {
      const { ordered, start, items } = token as Tokens.List;
      const children = items.map((item, index) => (
        <li key={index} data-task={item.task || undefined}>
          {item.task && (
            <input
              type="checkbox"
              checked={item.checked}
              readOnly
              disabled
              aria-label={item.checked ? "done" : "open"}
            />
          )}
          {blocks(item.tokens)}
        </li>
      ));
      return ordered ? <ol start={Number(start) || 1}>{children}</ol> : <ul>{children}</ul>;
    }
    case "table": {
      const { header, rows } = token as Tokens.Table;
      return (
        <div className={styles.wide}>
          <table>
            <thead>
              <tr>
                {header.map((cell, index) => (
                  <th key={index}>{inline(cell.tokens)}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row, index) => (
                <tr key={index}>
                  {row.map((cell, column) => (
                    <td key={column}>{inline(cell.tokens)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      );
    }
    case "hr":
      return <hr />;
    case "text":
      return token.tokens ? inline(token.tokens) : unescaped(token.text);
    default:
      return <p>{token.raw}</p>;
  }
}

const inline = (tokens: readonly Token[] | undefined): ReactNode[] =>
  (tokens ?? []).map((token, index) => <Fragment key={index}>{span(token)}</Fragment>);

function span(token: Token): ReactNode {
  switch (token.type) {
    case "strong":
      return <strong>{inline(token.tokens)}</strong>;
    case "em":
      return <em>{inline(token.tokens)}</em>;
    case "del":
      return <del>{inline(token.tokens)}</del>;
    case "codespan":
      return <code>{unescaped(token.text)}</code>;
    case "br":
      return <br />;
    case "link":
      return <Link to={(token as Tokens.Link).href}>{inline(token.tokens)}</Link>;
    case "image":
      return <Link to={(token as Tokens.Image).href}>{token.text || (token as Tokens.Image).href}</Link>;
    case "escape":
      return unescaped(token.text);
    case "text":
      return token.tokens ? inline(token.tokens) : unescaped(token.text);
    default:
      return token.raw;
  }
}

function Link({ to, children }: { to: string; children: ReactNode }) {
  if (!/^(https?:|mailto:)/i.test(to)) return <>{children}</>;
  return (
    <a href={to} target="_blank" rel="noopener noreferrer nofollow" referrerPolicy="no-referrer">
      {children}
    </a>
  );
}

const ENTITIES: Record<string, string> = {
  "&amp;": "&",
  "&lt;": "<",
  "&gt;": ">",
  "&quot;": '"',
  "&#39;": "'",
};

// The reader writes these for those who make HTML of its tokens; here text is text.
const unescaped = (text: string) =>
  text.replace(/&(amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);
