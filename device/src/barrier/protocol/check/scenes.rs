//! Scenes: pipelines, and the roles at their ends.

use std::sync::Arc;

use super::super::EndState;
use super::barrier::{Barrier, Manner};
use super::checker::Checker;
use super::ends::{ConsumerBarriers, ProducerBarriers};
use super::pipeline::{Event, Fills, Pipeline, Setup};
use super::script::{AnyEnd, Running, Step, play};
use super::threads::Threads;

/// A pipeline from one role to another, by number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Link {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) setup: Setup,
}

/// A block's pipelines, and what each of its roles does.
#[derive(Clone, Debug)]
pub(super) struct Scene {
    pub(super) manner: Manner,
    pub(super) links: Vec<Link>,
    pub(super) roles: Vec<Vec<Step>>,
    /// What each consumer does, where they go different ways.
    pub(super) apart: Vec<Vec<Step>>,
}

impl Scene {
    /// One pipeline between two roles.
    pub(super) fn pair(setup: Setup, manner: Manner, producers: &[Step], consumers: &[Step]) -> Self {
        Scene::new(manner, vec![Link { from: 0, to: 1, setup }], vec![producers.to_vec(), consumers.to_vec()])
    }

    /// Pipelines of one setup from a role to one whose threads go different ways.
    pub(super) fn apart(links: usize, setup: Setup, manner: Manner, producers: &[Step], consumers: &[&[Step]]) -> Self {
        let link = Link { from: 0, to: 1, setup: Setup { apart: true, ..setup } };
        let scene = Scene::new(manner, vec![link; links], vec![producers.to_vec(), Vec::new()]);
        let apart = consumers.iter().map(|steps| steps.to_vec()).collect();
        // They poll when they leave.
        Scene { apart, manner: Manner { polled: true, ..manner }, ..scene }
    }

    /// Several pipelines and roles.
    pub(super) fn new(manner: Manner, links: Vec<Link>, roles: Vec<Vec<Step>>) -> Self {
        let polls = |step: &Step| matches!(step, Step::Try(..) | Step::TryOrStop(..) | Step::TryHold(..));
        let polled = links.len() > 1 || roles.iter().flatten().any(polls);
        Scene { manner: Manner { polled, ..manner }, links, roles, apart: Vec::new() }
    }

    /// How many threads a role has.
    fn threads(&self, role: usize) -> usize {
        let threads = self.links.iter().find_map(|link| match role {
            _ if role == link.from => Some(link.setup.producers),
            _ if role == link.to => Some(link.setup.consumers),
            _ => None,
        });
        threads.expect("each role has an end")
    }

    /// The pipelines that a role fills by asynchronous copies.
    fn copied_by<P>(&self, role: usize, pipelines: &[Arc<P>]) -> Vec<Arc<P>> {
        let links = self.links.iter().zip(pipelines);
        links
            .filter(|(link, _)| link.from == role && link.setup.fills != Fills::Stores)
            .map(|(_, pipeline)| pipeline.clone())
            .collect()
    }

    /// Plays the scene once. Returns the events of each pipeline's producers and consumers.
    pub(super) fn play<C: Checker, const STAGES: usize>(&self) -> Vec<[Vec<Event>; 2]> {
        let pipelines: Arc<Vec<_>> = Arc::new(
            self.links
                .iter()
                .map(|link| Pipeline::<C, STAGES>::new(&format!("{}-{}", link.from, link.to), link.setup, self.manner))
                .collect(),
        );
        let mut threads = Threads::new();
        for (role, steps) in self.roles.iter().enumerate() {
            for rank in 0..self.threads(role) {
                let own = if role == 1 { self.apart.get(rank) } else { None };
                let (links, steps, its) = (self.links.clone(), own.unwrap_or(steps).clone(), pipelines.clone());
                let number = threads.add(move |thread| {
                    let mut ends: Vec<_> = links
                        .iter()
                        .zip(&*its)
                        .map(|(link, pipeline)| -> Option<Box<dyn AnyEnd + '_>> {
                            if link.from == role {
                                let barriers = ProducerBarriers::new(pipeline, thread, rank);
                                Some(Box::new(Running::new(barriers, EndState::producer())))
                            } else if link.to == role {
                                let barriers = ConsumerBarriers::new(pipeline, thread, rank);
                                Some(Box::new(Running::new(barriers, EndState::consumer())))
                            } else {
                                None
                            }
                        })
                        .collect();
                    play::<C>(&mut ends, &steps);
                });
                if self.manner.copiers {
                    for pipeline in self.copied_by(role, &pipelines) {
                        let steps = pipeline.setup.steps_of_copier(rank);
                        let stage = move |full: &Arc<Barrier<C>>| (0..steps).all(|_| full.copier(number));
                        if steps > 0 {
                            threads.add_copier(move || while pipeline.full.iter().all(stage) {});
                        }
                    }
                }
            }
        }
        let mut events = Vec::new();
        threads.run(|taken| events.extend(pipelines.iter().map(|pipeline| pipeline.end(taken))));
        events
    }
}
